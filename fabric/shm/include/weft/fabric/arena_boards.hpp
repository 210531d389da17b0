// SPDX-License-Identifier: Apache-2.0
// Which of a process's boards belongs to which communicator.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/board_ticket.hpp>

namespace weft::fabric {

/// The boards of this process. They are given away before the others hear of it, and again only when all others of the
/// communicator have given theirs back: then none of them reads this one any more. Any thread.
class arena_boards {
 public:
  arena_boards(const arena& memory, int self);

  /// One as good as new; none where all others but so many are in use.
  board_ticket claim(std::size_t spared = 0);
  /// Gives back one that nobody has used, and nobody is going to.
  void give_back(board_ticket unused);

  /// Says of one that others may wait for that it publishes nothing any more. It stays this communicator's: until it is
  /// retired, or for ever where the process did not get that.
  void abandon(board_ticket unused);
  /// The same of all that are given: this process is about to end.
  void abandon_all();

  /// At least so many bytes of this process's heap that go with a board: for the others of its communicator to read. It
  /// has them from the first call of this on, and whoever has the board next again. Null where there is no memory.
  std::byte* long_slots(board_ticket of, std::size_t bytes);

  /// One process's board of a communicator.
  struct seat {
    int process = 0;
    board_ticket ticket;
  };
  /// Gives back that of a communicator whose others these are.
  void retire(board_ticket used, std::vector<seat> others);

 private:
  enum class state : std::uint8_t { free, given, retired };
  struct record {
    state now = state::free;
    std::uint64_t use = 0;
    std::vector<seat> others;
    std::byte* long_slots = nullptr;
    std::size_t long_slots_bytes = 0;
    bool has_no_memory = false;  // for them
  };

  arena_board& board(std::size_t index) const noexcept { return memory_.board(self_, index); }
  bool is_done(const record& retired) const noexcept;

  const arena& memory_;
  const int self_;
  std::mutex giving_;  // guards the next
  std::array<record, arena::boards> records_;
};

}  // namespace weft::fabric
