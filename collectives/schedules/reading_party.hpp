// SPDX-License-Identifier: Apache-2.0
// Ranks that read each other's memory, as a phase of a schedule.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "phases.hpp"

namespace weft::schedules {

/// What one member offers the others of its party, takes of what they offer, and has them wait for.
///
///     offer ->  the others await that, read, and when all has been read tell it by `close`
class reading_party {
 public:
  reading_party(memory_emitter& emit, const party& among)
      : emit_(emit), among_(among), taken_(among.ranks.size()), offered_(among.ranks.size(), false) {}

  const party& members() const { return among_; }
  bool is_me(int place) const { return place == among_.place; }

  /// Offers memory of this rank's to one of the others, or to all of them.
  void offer(int place, const segment& memory);
  void offer_to_others(const segment& memory);
  /// Awaits what a member offers, as that names it.
  void await_offer(int place, const segment& memory);

  /// Copies a part of what was offered last by a member.
  void copy(int place, const segment& theirs, const segment& target);
  /// Combines `blocks` of all members' inputs, which all have offered, to `target`, which may be this rank's.
  void combine_inputs(block_range blocks, const segment& target);

  /// Tells all whose offers were awaited that this rank reads no more of them, and awaits the same of all to which it
  /// has offered something.
  void close();

 private:
  /// Of one member: what this rank awaited last, and what it reads of it.
  struct taken {
    step_index offer = no_step;
    std::vector<step_index> by;
  };
  taken& of(int place) { return taken_[static_cast<std::size_t>(place)]; }

  memory_emitter& emit_;
  party among_;
  std::vector<taken> taken_;
  std::vector<bool> offered_;
  std::vector<segment> sources_;
  std::vector<step_index> after_;
};

}  // namespace weft::schedules
