// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>
#include <weft/fabric/arena_boards.hpp>

namespace weft::fabric {
namespace {

/// What a board says of itself: it is in that use, or that one is over. Grows.
std::uint64_t in_use(board_ticket by) noexcept { return 2 * by.use; }
std::uint64_t over(board_ticket by) noexcept { return in_use(by) + 1; }

}  // namespace

arena_boards::arena_boards(const arena& memory, int self) : memory_(memory), self_(self) {
  records_[ticket_of_world.board].now = state::given;
  records_[ticket_of_world.board].use = ticket_of_world.use;
}

bool arena_boards::is_done(const record& retired) const noexcept {
  return std::ranges::all_of(retired.others, [&](const seat& each) {
    // acquire: pairs with the release in the other's retire(), behind all that it has read of this process's board.
    const auto now = memory_.board(each.process, each.ticket.board).use.load(std::memory_order_acquire);
    return now >= over(each.ticket);
  });
}

board_ticket arena_boards::claim(std::size_t spared) {
  const std::lock_guard lock(giving_);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    record& each = records_[i];
    if (each.now == state::given || (each.now == state::retired && !is_done(each))) continue;
    if (spared != 0) {
      --spared;
      continue;
    }
    each.now = state::given;
    each.others.clear();
    const board_ticket given{++each.use, static_cast<std::uint32_t>(i)};
    // relaxed, both: whoever looks at it has been told of the ticket by a message, behind this.
    for (arena_line& line : board(i).lines) line.stamp.store(0, std::memory_order_relaxed);
    board(i).withdrawn.store(0, std::memory_order_relaxed);
    // release: another's is_done() may find this in place of what retire() has stored, and a store that follows a
    // release continues no release sequence. It pairs as that does, behind all that this process read before.
    board(i).use.store(in_use(given), std::memory_order_release);
    return given;
  }
  return {};
}

std::byte* arena_boards::long_slots(board_ticket of, std::size_t bytes) {
  const std::lock_guard lock(giving_);
  record& its = records_[of.board];
  if (its.long_slots_bytes >= bytes) return its.long_slots;
  if (its.has_no_memory || memory_.heap() == nullptr) return nullptr;
  // Another's: whose board it was has done with it.
  if (its.long_slots != nullptr)
    memory_.heap()->give_back(std::exchange(its.long_slots, nullptr), its.long_slots_bytes);
  its.long_slots_bytes = 0;
  try {
    its.long_slots = memory_.heap()->take(bytes, memory_use::spare);
    its.long_slots_bytes = bytes;
  } catch (const std::exception&) {  // weft::error, std::bad_alloc
    its.has_no_memory = true;
  }
  return its.long_slots;
}

void arena_boards::give_back(board_ticket unused) {
  if (!unused) return;
  const std::lock_guard lock(giving_);
  records_[unused.board].now = state::free;
}

void arena_boards::abandon(board_ticket unused) {
  if (!unused) return;
  const std::lock_guard lock(giving_);
  // release: as in retire(), which may have said so already.
  if (records_[unused.board].use == unused.use) board(unused.board).use.store(over(unused), std::memory_order_release);
}

void arena_boards::abandon_all() {
  const std::lock_guard lock(giving_);
  for (std::size_t i = 0; i < records_.size(); ++i)
    if (records_[i].now == state::given)  // release: as in retire()
      board(i).use.store(over({records_[i].use, static_cast<std::uint32_t>(i)}), std::memory_order_release);
}

void arena_boards::retire(board_ticket used, std::vector<seat> others) {
  const std::lock_guard lock(giving_);
  record& its = records_[used.board];
  // A rank that got the communicator when all others of its process had left it has the same board again.
  if (its.use != used.use || its.now != state::given) return;
  its.others = std::move(others);
  its.now = state::retired;
  // release: see is_done().
  board(used.board).use.store(over(used), std::memory_order_release);
}

}  // namespace weft::fabric
