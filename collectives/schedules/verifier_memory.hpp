// Names for all memories of all ranks.
#pragma once

#include "verifier_job.hpp"

namespace weft::schedules {

/// A block of a rank's input or output, or a slot of its scratch.
using cell = std::size_t;

class cell_map {
 public:
  cell_map(const job& all, placing where)
      : where_(where), blocks_(std::size_t{all.of(0).cut.chunks} * all.of(0).cut.segments) {
    for (int rank = 0; rank < all.ranks(); ++rank) {
      first_.push_back(size_);
      size_ += 2 * blocks_ + all.of(rank).cut.scratch_slots;
    }
  }

  std::size_t size() const { return size_; }
  /// In place, an output block is the input block of the same elements.
  cell input(int rank, std::uint32_t block) const { return first(rank) + block; }
  cell output(int rank, std::uint32_t block) const {
    return first(rank) + (where_ == placing::in_place ? 0 : blocks_) + block;
  }
  cell slot(int rank, std::uint32_t number) const { return first(rank) + 2 * blocks_ + number; }
  /// Of a block that lies in `memory`, named by a step of `rank`: not for scratch.
  cell of(int rank, const segment& memory, std::uint32_t block) const {
    const int owner = job::owner(rank, memory);
    return memory.in == buffer::input ? input(owner, block) : output(owner, block);
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
  cell first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }

  placing where_;
  std::size_t blocks_;
  std::vector<cell> first_;
  std::size_t size_ = 0;
};

/// Whether the step copies elements onto themselves, which in place is nothing at all.
inline bool copies_onto_itself(const cell_map& cells, const job& all, job_step s) {
  const step& at = all.at(s);
  if (at.kind != step_kind::copy || at.target.elements.count == 0 || at.target.in == buffer::scratch) return false;
  const int rank = all.rank_of(s);
  const segment& source = all.of(rank).sources_of(at)[0];
  const std::uint32_t first = at.target.elements.first;
  return source.in != buffer::scratch && cells.of(rank, source, first) == cells.of(rank, at.target, first);
}

}  // namespace weft::schedules
