// SPDX-License-Identifier: Apache-2.0
// Names for all memories of all ranks.
#pragma once

#include "job.hpp"

namespace weft::schedules {

/// A block of a rank's input, output or work memory, a slot of its scratch, or a position of its board.
using cell = std::size_t;

class cell_map {
 public:
  cell_map(const job& all, placing where) : all_(all), where_(where) {
    for (int rank = 0; rank < all.ranks(); ++rank) {
      const layout& cut = all.of(rank).cut;
      first_.push_back(size_);
      first_slot_.push_back(slots_);
      slots_ += cut.scratch_slots;
      size_ += std::size_t{cut.input.count} + cut.output.count + cut.work.count + cut.scratch_slots + cut.board;
    }
  }

  std::size_t size() const { return size_; }
  /// Slots of scratch of all ranks, which are numbered apart, too.
  std::size_t slots() const { return slots_; }
  std::size_t slot_number(int rank, std::uint32_t number) const {
    return first_slot_[static_cast<std::size_t>(rank)] + number;
  }
  cell input(int rank, std::uint32_t block) const { return first(rank) + cut(rank).input.position(block); }
  /// In place, an output block is the input block of the same elements.
  cell output(int rank, std::uint32_t block) const {
    if (where_ == placing::in_place && cut(rank).input.holds({block, 1})) return input(rank, block);
    return first(rank) + cut(rank).input.count + cut(rank).output.position(block);
  }
  cell work(int rank, std::uint32_t block) const {
    return first(rank) + cut(rank).input.count + cut(rank).output.count + cut(rank).work.position(block);
  }
  cell slot(int rank, std::uint32_t number) const {
    return first(rank) + cut(rank).input.count + cut(rank).output.count + cut(rank).work.count + number;
  }
  cell position(int rank, std::uint32_t number) const { return slot(rank, cut(rank).scratch_slots + number); }
  /// Of a block that lies in `memory`, named by a step of `rank`: not for scratch.
  cell of(int rank, const segment& memory, std::uint32_t block) const {
    const int owner = job::owner(rank, memory);
    if (memory.in == buffer::board) return position(owner, memory.slot + (block - memory.elements.first));
    if (memory.in == buffer::input) return input(owner, block);
    return memory.in == buffer::output ? output(owner, block) : work(owner, block);
  }
  /// Calls `each` with every cell of `memory`, named by a step of `rank`.
  template <class Each>
  void for_each(int rank, const segment& memory, Each&& each) const {
    if (memory.in == buffer::scratch) {
      if (memory.elements.count > 0) each(slot(job::owner(rank, memory), memory.slot));
      return;
    }
    for (std::uint32_t i = 0; i < memory.elements.count; ++i) each(of(rank, memory, memory.elements.first + i));
  }

 private:
  const layout& cut(int rank) const { return all_.of(rank).cut; }
  cell first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }

  const job& all_;
  placing where_;
  std::vector<cell> first_, first_slot_;
  std::size_t size_ = 0, slots_ = 0;
};

/// Whether the step copies elements onto themselves, which in place is nothing at all.
inline bool copies_onto_itself(const cell_map& cells, const job& all, job_step s) {
  const step& at = all.at(s);
  if (at.kind != step_kind::copy) return false;
  const int rank = all.rank_of(s);
  const segment& source = all.of(rank).sources_of(at)[0];
  const segment& target = all.of(rank).targets_of(at)[0];
  if (target.elements.count == 0 || target.in == buffer::scratch || source.in == buffer::scratch) return false;
  const std::uint32_t first = target.elements.first;
  return cells.of(rank, source, first) == cells.of(rank, target, first);
}

}  // namespace weft::schedules
