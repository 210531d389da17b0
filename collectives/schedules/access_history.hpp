// SPDX-License-Identifier: Apache-2.0
// Which steps used the blocks of one memory last.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "emitter.hpp"

namespace weft::schedules {

/// Blocks, and the search for the next one: a bit for each, and one for each 64 of them.
class block_set_index {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  bool has(std::uint32_t block) const {
    return block / 64 < words_.size() && (words_[block / 64] >> block % 64 & 1) != 0;
  }
  void insert(std::uint32_t block);
  void erase(std::uint32_t block);
  /// The last member up to `block`, or none.
  std::uint32_t last_to(std::uint32_t block) const;
  /// The first member from `block` on, or none.
  std::uint32_t first_from(std::uint32_t block) const;

 private:
  std::vector<std::uint64_t> words_;  // a bit a block
  std::vector<std::uint64_t> full_;   // a bit for each word that is not 0
};

/// Blocks that were used together are remembered together. O(1) for blocks used as they were before; memory in
/// proportion to the blocks used, but for a bit a block.
class access_history {
 public:
  static constexpr std::uint32_t no_reader = std::numeric_limits<std::uint32_t>::max();

  struct use {
    std::uint32_t end = 0;              ///< one past the last block
    step_index writer = no_step;        ///< the last step that wrote these blocks
    std::uint32_t readers = no_reader;  ///< since: the latest one's place in the table of readers
  };

  /// The uses of `blocks`, by first block, in pieces that end where `blocks` do; made where there were none. Until the
  /// next call.
  std::span<use* const> pieces(block_range blocks);
  void add_reader(block_range blocks, step_index reader);
  void set_writer(block_range blocks, step_index writer);
  /// The step that wrote the first of `blocks` last, or no_step, and how many from there on it wrote, too.
  std::pair<step_index, std::uint32_t> writer(block_range blocks) const;

  /// Calls `each` with every step that reads what `of` is of.
  template <class Each>
  void for_each_reader(const use& of, Each&& each) const {
    for (std::uint32_t at = of.readers; at != no_reader; at = readers_[at].next) each(readers_[at].step);
  }

 private:
  struct reader {
    step_index step;
    std::uint32_t next;
  };
  static constexpr std::uint32_t page_blocks = 64;
  using page = std::array<use, page_blocks>;

  use& at(std::uint32_t first) { return (*pages_[first / page_blocks])[first % page_blocks]; }
  const use& at(std::uint32_t first) const { return (*pages_[first / page_blocks])[first % page_blocks]; }
  use& insert(std::uint32_t first, const use& what);
  void split(std::uint32_t at);
  std::uint32_t linked(step_index step, std::uint32_t next);
  std::uint32_t copied(std::uint32_t readers);
  void release(use& of);

  block_set_index firsts_;                    // blocks at which a use begins; uses are disjoint
  std::vector<std::unique_ptr<page>> pages_;  // of uses, by first block
  std::vector<reader> readers_;               // lists
  std::uint32_t unused_ = no_reader;          // a list of those that are in none
  std::vector<use*> found_;
};

}  // namespace weft::schedules
