#include "node_road.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <weft/fabric/arena.hpp>
#include <weft/request.hpp>
#include <weft/runtime/error.hpp>

#include "fingerprint.hpp"
#include "process.hpp"

namespace weft::detail {
namespace {

/// Of the time for measuring at the start: messages on the node and kernels take less than the rest.
constexpr double share_of_budget = 0.5;

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

}  // namespace

std::unique_ptr<node_road> node_road::of(process& host, std::uint64_t communicator,
                                         const std::vector<fabric::arena_boards::seat>& seats,
                                         const std::vector<int>& leaders, std::size_t self) {
  const fabric::arena* const memory = host.arena();
  if (memory == nullptr || seats.size() < 2 || host.settings().check) return nullptr;
  const auto sits = [&](const fabric::arena_boards::seat& each) {
    return memory->holds(each.process) && is_board(each.ticket);
  };
  if (!std::ranges::all_of(seats, sits)) return nullptr;
  return std::make_unique<node_road>(host, communicator, seats, leaders, self);
}

node_road::node_road(process& host, std::uint64_t communicator, const std::vector<fabric::arena_boards::seat>& seats,
                     const std::vector<int>& leaders, std::size_t self)
    : host_(host),
      communicator_(communicator),
      leaders_(leaders),
      rounds_(boards_of(host, seats), self, host.moved_by(), failed_),
      inputs_(rounds_.size()),
      seen_(rounds_.size()),
      reads_(host.arena()->reading_refusal().empty()),
      limits_(host.node_limits_of(rounds_.size())),
      groups_(node_groups::of(groups_on_node(host, seats), self)),
      seats_(seats),
      told_(rounds_.size()),
      lies_(rounds_.size()),
      moves_(rounds_.size()),
      heap_(host.arena()->heap()),
      places_(rounds_.size()),
      outputs_(rounds_.size()),
      long_slots_of_(rounds_.size()),
      long_slot_bytes_(bytes_of_long_slot(rounds_.size())),
      ring_of_long_slots_(long_slots_in_ring * long_slot_bytes_),
      crowded_(host.arena()->crowded()),
      kernel_(kernels::combine(op_, type_)) {
  for (const auto& each : seats) {
    pids_.push_back(host.arena()->pid(each.process));
    regions_.push_back(host.arena()->index_of(each.process));
  }
}

node_road::~node_road() {
  auto others = seats_;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(rounds_.self()));
  host_.boards()->retire(board(), std::move(others));
}

bool node_road::takes(collective what, const request& call) const noexcept {
  switch (what) {
    case collective::barrier:
      return true;
    case collective::broadcast:
    case collective::reduce:
    case collective::allreduce:
    case collective::reduce_scatter:
    case collective::scan:
    case collective::exscan:
      return call.element_bytes <= fabric::arena_slot_bytes;
    case collective::allgather:
    case collective::gather:
    case collective::scatter:
      return true;
    case collective::alltoall:
      return has_room_for_counts();
  }
  return false;
}

leader_result node_road::run(const leader_call& call, fabric::participant& member) {
  custom_ = call.custom.apply != nullptr;
  poisoned_ = call.poisoned;
  try {
    if (go(call)) return poisoned_ == nullptr ? leader_result() : poisoned_outcome();
  } catch (const std::bad_alloc&) {
    host_.break_communicator(member);
  }
  thrown_ = nullptr;
  withdraw();
  return {host_.failure_of(member), nullptr};
}

bool node_road::go(const leader_call& call) {
  fingerprint_ = call.fingerprint;
  sequence_ = call.sequence;
  places_[rounds_.self()] = {};
  slot_bytes_ = fabric::arena_slot_bytes;
  in_long_slots_ = false;
  switch (call.what) {
    case collective::barrier:
    case collective::broadcast:
    case collective::reduce:
    case collective::allreduce:
      return go_vector(call);
    case collective::reduce_scatter:
      return reduce_scatter(call);
    case collective::scan:
    case collective::exscan:
      return scan(call);
    default:
      return move_blocks(call);
  }
}

bool node_road::go_vector(const leader_call& call) {
  const std::size_t bytes = call.count * call.of->element_bytes;
  const bool in_slots = !is_long(call.what, bytes);
  if (in_slots && !take_slots_for(bytes, call.what == collective::broadcast)) return false;
  if (bytes >= least_told && tells(call.what, bytes))
    return call.what == collective::broadcast ? broadcast_telling(call) : reduce_telling(call);
  if (bytes <= fabric::arena_slot_bytes) return go_short(call);
  if (!in_slots && call.what != collective::broadcast) return reduce_by_reading(call);
  return go_in_pieces(call);
}

bool node_road::reads(collective what, std::size_t bytes) const noexcept {
  const std::size_t share = bytes / rounds_.size();
  if (what == collective::allgather || what == collective::gather) return is_long(what, share);
  return is_long(what, what == collective::alltoall || what == collective::reduce_scatter ? bytes - share : bytes);
}

void node_road::measure_limits(fabric::participant& member) {
  const options& settings = host_.settings();
  // Where processes share CPUs one call takes longer than all that may take.
  if (!reads_ || settings.tune != "start" || crowded_) return;
  const double budget = std::chrono::duration<double>(settings.tune_budget).count();
  const node_limits assumed = limits_, found = measure_node_limits(*this, member, assumed, budget * share_of_budget);
  host_.learn_limits(rounds_.size(), found);
  take(found);
}

bool node_road::go_short(const leader_call& call) {
  const std::size_t bytes = call.count * call.of->element_bytes;
  const bool in_lines = bytes <= fabric::arena_line_bytes && !custom_;
  const std::size_t self = rounds_.self(), root = static_cast<std::size_t>(call.root);
  const bool moves = call.what == collective::broadcast, to_root = call.what == collective::reduce;
  if (groups_ && !custom_ && !moves && !to_root) return go_in_groups(call);
  if (crowded_ && call.what == collective::barrier) return barrier_of_first();

  if (!begin(in_lines ? 0 : bytes)) return false;
  if (bytes != 0 && (!moves || self == root)) std::memcpy(place(self, in_lines), call.in, bytes);
  publish(call.poisoned);
  if (moves && self != root) {
    if (!await_operand(root, in_lines ? 0 : bytes)) return false;
    if (bytes != 0) std::memcpy(call.out, place(root, in_lines), bytes);
  }
  if (moves || (to_root && self != root)) {
    rounds_.end();
    return true;
  }
  if (!await_operands(in_lines ? 0 : bytes)) return false;
  if (bytes != 0) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = i == self ? call.in : place(i, in_lines);
    combine(call, inputs_, call.count, call.out);
  }
  rounds_.end_with_all();
  return true;
}

bool node_road::barrier_of_first() {
  const bool first = rounds_.self() == 0;
  if (!begin()) return false;
  rounds_.publish();
  if (first && !await_all()) return false;
  const std::uint32_t all_in = rounds_.number();
  rounds_.end();
  if (!begin()) return false;
  rounds_.publish();
  if (!first && !await(0)) return false;
  rounds_.end_with_all_in(all_in);
  return true;
}

bool node_road::go_in_groups(const leader_call& call) {
  if (!combine_among(groups_->beside, call, call.in)) return false;
  const std::uint32_t first = rounds_.number();
  rounds_.end();
  if (!combine_among(groups_->across, call, call.out)) return false;
  rounds_.end_with_all_in(first);
  return true;
}

bool node_road::combine_among(std::span<const std::size_t> members, const leader_call& call, const std::byte* in) {
  const std::size_t self = rounds_.self(), bytes = call.count * call.of->element_bytes;
  const bool in_lines = bytes <= fabric::arena_line_bytes;
  if (!begin(in_lines ? 0 : bytes)) return false;
  if (bytes != 0) std::memcpy(place(self, in_lines), in, bytes);
  rounds_.publish();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] != self && !await(members[i], in_lines ? 0 : bytes)) return false;
    inputs_[i] = members[i] == self ? in : place(members[i], in_lines);
  }
  if (bytes != 0) combine(call, std::span(inputs_).first(members.size()), call.count, call.out);
  return true;
}

bool node_road::go_in_pieces(const leader_call& call, std::size_t done) {
  const std::size_t element = call.of->element_bytes, each = slot_bytes_ / element;
  leader_call piece = call;
  for (; done < call.count; done += piece.count) {
    piece.count = std::min(each, call.count - done);
    if (call.in != nullptr) piece.in = call.in + done * element;
    if (call.out != nullptr) piece.out = call.out + done * element;
    if (!go_short(piece)) return false;
  }
  return true;
}

bool node_road::await_all() {
  for (std::size_t i = 0; i < rounds_.size(); ++i)
    if (i != rounds_.self() && !await(i)) return false;
  return true;
}

void node_road::report_difference(std::size_t member) {
  const fabric::arena_rounds::difference between = rounds_.difference_to(member);
  const auto called = [&](std::size_t process, std::uint64_t fingerprint) {
    return "rank " + std::to_string(leaders_[process]) + " called " + describe_fingerprint(fingerprint);
  };
  const char* const how = between.mine == between.theirs ? " after other calls" : "";
  host_.messages().break_communicator(communicator_, errc::mismatched_call,
                                      called(rounds_.self(), between.mine) + " where " +
                                          called(member, between.theirs) + how + " (communicator " +
                                          std::to_string(communicator_) + ")");
}

}  // namespace weft::detail
