// Long reductions among processes of one node that can read each other's memory.
//
//   all-reduce:  exchange addresses -> combine one's share of all inputs -> exchange -> take the others' shares -> meet
//   reduce:      the same, but shares are combined in scratch, and the root alone takes them
//
// A call's input and output may be one: until all shares are combined a process writes its own share of its output
// alone, of which nobody else reads the input; then the others' shares, of which nobody reads its output.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <weft/fabric/process_memory.hpp>
#include <weft/request.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>

#include "line_shares.hpp"
#include "node_road.hpp"
#include "process.hpp"
#include "reading_limits.hpp"

namespace weft::detail {
namespace {

/// Where in a line the place of what an address tells of is: behind that, and the mark of node_operators.cpp.
constexpr std::size_t place_in_line = 16;

/// Scratch that is kept for later calls.
constexpr std::size_t most_scratch_kept = 4 << 20;

}  // namespace

bool node_road::reduce_by_reading(const leader_call& call) {
  return exchange(call.in, call.poisoned) && reduce_in_shares(call);
}

bool node_road::reduce_in_shares(const leader_call& call) {
  const std::size_t self = rounds_.self(), others = rounds_.size() - 1, element = call.of->element_bytes;
  const bool takes = call.what == collective::allreduce || self == static_cast<std::size_t>(call.root);
  const range mine = share_of(call, self);
  const std::size_t piece = bytes_of_piece();
  std::byte* const pieces = scratch(others * piece + (takes ? 0 : mine.count * element));
  std::byte* const target = takes ? call.out + mine.first * element : pieces + others * piece;
  const bool done = combine_share(call, mine, target, pieces, piece) && exchange(target, poisoned_) &&
                    (!takes || take_shares(call)) && meet();
  free_large_scratch();
  return done;
}

std::size_t node_road::bytes_of_piece() const noexcept {
  return std::max(most_pieces / (rounds_.size() - 1), least_piece) / element_alignment * element_alignment;
}

bool node_road::exchange(const void* address, const std::shared_ptr<const fabric::poison>& missing) {
  if (!begin()) return false;
  tell_address(address);
  publish(missing);
  for (std::size_t i = 0; i < told_.size(); ++i) {
    if (i == rounds_.self()) continue;
    if (!await_operand(i)) return false;
    hear_address(i);
  }
  rounds_.end_with_all();
  return true;
}

void node_road::tell_address(const void* address) noexcept {
  const std::uint64_t mine = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t place = place_of(address, 0);
  std::memcpy(rounds_.line(rounds_.self()), &mine, sizeof mine);
  std::memcpy(rounds_.line(rounds_.self()) + place_in_line, &place, sizeof place);
}

void node_road::hear_address(std::size_t member) noexcept {
  std::memcpy(&told_[member], rounds_.line(member), sizeof told_[0]);
  std::memcpy(&lies_[member], rounds_.line(member) + place_in_line, sizeof lies_[0]);
}

bool node_road::meet() {
  if (!begin()) return false;
  rounds_.publish();
  if (!await_all()) return false;
  rounds_.end_with_all();
  return true;
}

node_road::range node_road::share_of(const leader_call& call, std::size_t member) const noexcept {
  const auto begin_of = [&](std::size_t share) {
    return begin_of_share(call.count, call.of->element_bytes, rounds_.size(), share);
  };
  return {begin_of(member), begin_of(member + 1) - begin_of(member)};
}

bool node_road::combine_share(const leader_call& call, range share, std::byte* target, std::byte* pieces,
                              std::size_t piece) {
  const std::size_t element = call.of->element_bytes, each = piece / element;
  if (share.count != 0 && !find_shares(share, element)) return false;
  for (std::size_t done = 0, some = 0; done < share.count && poisoned_ == nullptr; done += some) {
    some = std::min(each, share.count - done);
    const std::size_t offset = (share.first + done) * element;
    std::byte* into = pieces;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::byte* const seen = i == rounds_.self() ? call.in + share.first * element : seen_[i];
      inputs_[i] = seen != nullptr ? seen + done * element : into;
      if (seen != nullptr) continue;
      if (!read(i, told_[i] + offset, into, some * element)) return false;
      into += piece;
    }
    combine(call, inputs_, some, target + done * element);
  }
  return true;
}

bool node_road::find_shares(range share, std::size_t element) {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const bool shared = i != rounds_.self() && !custom_ && lies_[i] != buffer_places::elsewhere;
    seen_[i] = shared ? find(i, lies_[i] + share.first * element, share.count * element) : nullptr;
    if (shared && seen_[i] == nullptr) return false;
  }
  return true;
}

bool node_road::take_shares(const leader_call& call) {
  if (poisoned_ != nullptr) return true;
  const std::size_t element = call.of->element_bytes, all = rounds_.size();
  for (std::size_t next = 1; next < all; ++next) {  // each begins with another's
    const std::size_t from = (rounds_.self() + next) % all;
    const range share = share_of(call, from);
    if (!read(from, told_[from], call.out + share.first * element, share.count * element)) return false;
  }
  return true;
}

bool node_road::read(std::size_t member, std::uint64_t address, std::byte* into, std::size_t bytes) {
  if (bytes == 0) return true;
  if (lies_[member] != buffer_places::elsewhere) {
    const std::byte* const found = find(member, lies_[member] + (address - told_[member]), bytes);
    if (found == nullptr) return false;
    std::memcpy(into, found, bytes);
  } else if (const auto refused = fabric::read_process_memory(pids_[member], address, {into, bytes})) {
    return end_unread(member, "cannot be read: process_vm_readv: " + refused.message());
  }
  return rounds_.stays(member) || end_unread(member, "was read while that left the call");
}

bool node_road::end_unread(std::size_t member, const std::string& why) {
  const auto deadline = std::chrono::steady_clock::now() + time_to_explain;
  // relaxed: what it failed with is read under the messenger's token.
  while (!failed_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < deadline) {
    host_.moved_by().help();
    event never;
    never.wait_until(host_.moved_by(), host_.moved_by().time().now() + between_looks);
  }
  host_.messages().break_communicator(communicator_, errc::operation_failed,
                                      "the memory of process " + std::to_string(seats_[member].process) + " " + why);
  return false;
}

std::byte* node_road::scratch(std::size_t bytes) {
  if (scratch_bytes_ < bytes) {
    scratch_bytes_ = 0;
    scratch_.reset();
    scratch_ = make_aligned_bytes(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_.get();
}

void node_road::free_large_scratch() noexcept {
  if (scratch_bytes_ > most_scratch_kept) scratch_bytes_ = 0, scratch_.reset();
}

}  // namespace weft::detail
