// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <weft/fabric/awaited.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/process/process.hpp>
#include <weft/request.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/team/board_party.hpp>

namespace weft::detail {
namespace {

std::vector<fabric::arena_board*> boards_of(const process& host, const std::vector<fabric::arena_boards::seat>& seats) {
  std::vector<fabric::arena_board*> boards;
  for (const auto& each : seats) boards.push_back(&host.arena()->board(each.process, each.ticket.board));
  return boards;
}

/// Few rounds are needed, and the slots of many processes still stay in caches. Measured on an EPYC of 2 cores, with 2,
/// 4 and 8 processes: all-reduces of 256 KiB to 16 MiB take a fifth longer by slots of 64 KiB than by 128, and nearly
/// as long by 256.
std::size_t bytes_of_long_slot(std::size_t processes) noexcept {
  return std::clamp<std::size_t>((2 << 20) / processes, 32 << 10, 128 << 10) / 4096 * 4096;
}

/// Of a vector that goes one way this much is written while others read what comes before.
constexpr std::size_t pieces_on_the_way = 8;

}  // namespace

board_party::board_party(process& host, std::uint64_t communicator, std::vector<fabric::arena_boards::seat> seats,
                         const std::vector<int>& leaders, std::size_t self)
    : host_(host),
      communicator_(communicator),
      leaders_(leaders),
      seats_(std::move(seats)),
      rounds_(boards_of(host, seats_), self, host.moved_by(), failed_),
      reads_memory_(host.arena()->reading_refusal().empty()),
      crowded_(host.arena()->crowded()),
      heap_(host.arena()->heap()),
      operands_(seats_.size()),
      mapped_(seats_.size()),
      told_(seats_.size()),
      pieces_(host.budget()),
      kept_(host.budget()),
      apart_(host.budget()),
      long_slots_of_(seats_.size()),
      long_slot_bytes_(bytes_of_long_slot(seats_.size())),
      ring_of_long_slots_(long_slots_in_ring * long_slot_bytes_) {
  for (const auto& each : seats_) {
    pids_.push_back(host.arena()->pid(each.process));
    regions_.push_back(host.arena()->index_of(each.process));
  }
}

board_party::~board_party() {
  const fabric::board_ticket mine = board();
  seats_.erase(seats_.begin() + static_cast<std::ptrdiff_t>(self()));
  host_.boards()->retire(mine, std::move(seats_));
}

void board_party::learn(const leader_call& call) {
  const request& of = *call.of;
  const bool combines = schedules::combines(call.what);
  node_way& found = call.on_node;
  found.fingerprint = call.fingerprint;
  found.element = combines ? of.element_bytes : 1;
  const std::size_t each = of.element_bytes / found.element;
  found.how.count = call.count * each;
  found.block = call.block * each;
  found.custom = call.custom.apply != nullptr;
  found.kernel = combines && !found.custom ? kernels::combine(of.op, of.type) : nullptr;
  begins_.reserve(call.counts.size() + 2);
}

void board_party::place_uneven_blocks(const leader_call& call) {
  const std::size_t each = call.of->element_bytes / way_->element;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < call.counts.size(); ++i) {
    if (i == size()) begins_.push_back(std::exchange(begin, 0));
    begins_.push_back(begin);
    begin += call.counts[i] * each;
  }
  begins_.push_back(begin);
}

leader_result board_party::finish_special() {
  for (scratch* each : {&pieces_, &kept_, &apart_}) each->free_large();
  took_memory_ = false;
  if (poisoned_ == nullptr) return {};
  leader_result result;
  result.failure = thrown_ != nullptr ? std::exchange(thrown_, nullptr) : fabric::as_failure(*poisoned_);
  result.poisoned = std::exchange(poisoned_, nullptr);
  return result;
}

void board_party::explain(fabric::participant& member) {
  const auto gone = rounds_.missed();
  if (!gone) return;
  // A receive of what nobody sends ends with what its communicator has failed with, or because the sender has left
  // that, for which it is asked (fabric/messenger/engine_inquiry.cpp).
  fabric::awaited<fabric::receive_operation> none;
  none.at = &member;
  none.peer = leaders_[*gone];
  none.collective = true;
  none.tag = std::uint64_t{sequence_} << 32 | ~std::uint32_t{0};  // no schedule has so many messages
  none.fingerprint = way_->fingerprint;
  host_.messages().post(none);
  // A plan takes its board with it: the rank may be there still, and has nothing to answer.
  const bool of_plan = sequence_ >= fabric::sequence_of_plan;
  if (of_plan && !none.done.wait_until(host_.moved_by(), host_.moved_by().time().now() + fabric::time_to_explain)) {
    try {
      host_.messages().miss(member, none.peer);
    } catch (...) {
      host_.messages().cancel(none);
      throw;
    }
  }
  none.done.wait(host_.moved_by());
}

std::vector<int> board_party::behind() const {
  std::vector<int> ranks;
  for (const std::size_t process : rounds_.behind()) ranks.push_back(leaders_[process]);
  return ranks;
}

void board_party::withdraw() {
  thrown_ = nullptr;
  rounds_.withdraw();
  if (!has_told_ || !told_[self()].shared()) return;
  const auto deadline = std::chrono::steady_clock::now() + host_.settings().peer_timeout;
  for (std::size_t i = 0; i < size(); ++i)
    look_for(
        host_.moved_by(),
        [&] { return i == self() || !rounds_.is_using(i, telling_) || host_.has_ended(seats_[i].process); },
        [&] { return std::chrono::steady_clock::now() >= deadline; });
}

bool board_party::begin_with_long_slot(std::size_t bytes) {
  const auto [offset, needed] = ring_of_long_slots_.take(bytes, rounds_.number() + 1);
  long_slot_before_ = std::exchange(long_slot_, offset);
  return rounds_.begin_in(needed, way_->fingerprint, sequence_);
}

bool board_party::open_long_slots() {
  if (long_slots_ != opening::not_tried) return true;
  const std::size_t bytes = long_slots_in_ring * long_slot_bytes_;
  std::byte* const mine = host_.boards()->long_slots(board(), bytes);
  if (!begin_telling(0)) return false;
  told_buffers slots;
  slots.in = slots.out = mine != nullptr ? offset_of(mine, bytes) : told_buffers::elsewhere;
  std::memcpy(rounds_.line(self()), &slots, sizeof slots);
  publish(patterns::shows::nothing, patterns::everyone);
  bool all_have = mine != nullptr;
  for (std::size_t i = 0; i < size(); ++i) {
    long_slots_of_[i] = mine;
    if (i == self()) continue;
    if (!await(i)) return false;
    hear(i, patterns::offers::both);
    all_have = all_have && is_mapped(i);
    if (all_have && (long_slots_of_[i] = find(i, told_[i].in, bytes)) == nullptr) return false;
  }
  rounds_.end_with_all();
  long_slots_ = all_have ? opening::open : opening::refused;
  return true;
}

bool board_party::take_long_slots_for(std::size_t bytes, bool one_way) {
  if (!open_long_slots()) return false;
  if (long_slots_ != opening::open) return true;
  in_long_slots_ = true;
  slot_bytes_ = long_slot_bytes_;
  if (one_way)
    slot_bytes_ = std::clamp(crowded_ ? bytes : bytes / pieces_on_the_way / 4096 * 4096, fabric::arena_slot_bytes,
                             long_slot_bytes_);
  return true;
}

bool board_party::end_in_vain(std::size_t member, fabric::arena_rounds::found found) {
  if (found != fabric::arena_rounds::found::differs) return false;
  const fabric::arena_rounds::difference between = rounds_.difference_to(member);
  const auto called = [&](std::size_t process, std::uint64_t fingerprint) {
    return "rank " + std::to_string(leaders_[process]) + " called " + describe_fingerprint(fingerprint);
  };
  const char* const how = between.mine == between.theirs ? " after other calls" : "";
  host_.messages().break_communicator(communicator_, errc::mismatched_call,
                                      called(self(), between.mine) + " where " + called(member, between.theirs) + how +
                                          " (communicator " + std::to_string(communicator_) + ")");
  return false;
}

board_party::place board_party::scratch::room_for(std::size_t bytes) {
  if (bytes_ < bytes) {
    free();
    charge_ = memory_charge(budget_, bytes, "scratch memory of a collective");
    memory_ = make_aligned_bytes(bytes);
    bytes_ = bytes;
  }
  return memory_.get();
}

void board_party::scratch::free() noexcept {
  bytes_ = 0;
  memory_.reset();
  charge_ = {};
}

}  // namespace weft::detail
