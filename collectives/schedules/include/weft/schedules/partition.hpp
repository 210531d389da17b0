// SPDX-License-Identifier: Apache-2.0
// How many elements the chunks of a vector have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Binds a schedule's blocks to counts of elements. In each chunk, the segments are balanced. A value.
class partition {
 public:
  /// A vector of so many elements in all, balanced over its chunks, the longer ones first.
  partition(std::size_t elements) : elements_(elements) {}
  /// Chunk c has counts[c] elements: a count for each chunk of the layout.
  static partition of_chunks(std::vector<std::size_t> counts);
  /// An all-to-all as `rank` sees it: it sends sent[r] elements to rank r and receives received[r] from it. Only for
  /// schedules in which it touches no other chunks (bound with others they throw std::invalid_argument).
  static partition of_pairs(int rank, std::vector<std::size_t> sent, std::vector<std::size_t> received);

  /// Elements of blocks in a row. O(1).
  std::size_t count(const layout& cut, block_range blocks) const;
  /// Elements of a buffer that holds `held`.
  std::size_t total(const layout& cut, const block_set& held) const;
  /// The most elements that any `blocks` consecutive blocks have: what a slot of scratch must have room for.
  std::size_t most(const layout& cut, std::uint32_t blocks) const;

 private:
  enum class form : std::uint8_t { balanced, chunks, pairs };

  std::size_t count_of_chunks(const layout& cut, std::uint32_t first, std::uint32_t end) const;
  std::size_t begin_of(const layout& cut, std::uint32_t block) const;

  form form_ = form::balanced;
  std::size_t elements_ = 0;
  std::vector<std::size_t> first_;  // of each chunk, or chunk sent, and one past the last
  std::uint32_t rank_ = 0;
  std::vector<std::size_t> received_;
};

/// Where the blocks lie that a buffer holds. A value, made in O(rows).
class held_offsets {
 public:
  /// One after another; or, where there are displacements, each chunk that is held at its own.
  held_offsets(const partition& counts, const layout& cut, const block_set& held,
               std::vector<std::size_t> displacements = {});

  /// Whether these lie in a row. They are held.
  bool in_a_row(block_range blocks) const {
    return displacements_.empty() || blocks.count == 0 ||
           blocks.first / cut_->segments == (blocks.first + blocks.count - 1) / cut_->segments;
  }
  /// Elements from the buffer's beginning to `block`, one of those that are held. O(1).
  std::size_t operator()(std::uint32_t block) const {
    if (!displacements_.empty()) {
      const std::uint32_t part = block % cut_->segments;
      return displacements_[held_.position(block) / cut_->segments] + counts_->count(*cut_, {block - part, part});
    }
    const std::uint32_t row = held_.position(block) / held_.run;
    const std::uint32_t begin = held_.first + row * held_.stride;
    return before_row_[row] + counts_->count(*cut_, {begin, block - begin});
  }
  std::size_t total() const noexcept { return before_row_.back(); }

 private:
  const partition* counts_;  // these two have to outlive it
  const layout* cut_;
  block_set held_;
  std::vector<std::size_t> before_row_;  // and before one past the last
  std::vector<std::size_t> displacements_;
};

}  // namespace weft::schedules
