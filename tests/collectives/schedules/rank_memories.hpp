// SPDX-License-Identifier: Apache-2.0
// The memories of all ranks of a schedule, filled with numbers that tell what they are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>
#include <weft/verifier/verifier.hpp>

namespace weft_test {

struct run_options {
  weft::schedules::purpose meant;
  std::size_t elements = 0;
  bool in_place = false;
  bool in_order = false;  ///< steps begin in their order
  bool buffered = false;  ///< some sends end before their receives begin; else none
};

using numbers = std::vector<std::uint64_t>;

inline std::uint64_t contribution(std::size_t rank, std::size_t element) {
  return ((rank + 1) * 0x9e3779b97f4a7c15u + (element + 1) * 0xc2b2ae3d27d4eb4fu) | std::uint64_t{1} << 32;
}

/// First y, then x, where a number stands for the function f(t) = (upper half) t + (lower half) modulo 2^32.
inline std::uint64_t composed(std::uint64_t x, std::uint64_t y) {
  const auto upper = [](std::uint64_t f) { return static_cast<std::uint32_t>(f >> 32); };
  const auto lower = [](std::uint64_t f) { return static_cast<std::uint32_t>(f); };
  return std::uint64_t{upper(x) * upper(y)} << 32 | (upper(x) * lower(y) + lower(x));
}

/// Of a run of these schedules; `random` outlives it.
class rank_memories {
 public:
  rank_memories(const run_options& options, std::span<const weft::schedules::schedule> ranks, std::mt19937_64& random)
      : options_(options), ranks_(ranks), random_(random), memories_(ranks.size()) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) set_up(rank);
  }

  /// The numbers in `parts`, one after another; `write` puts them there.
  numbers read(std::size_t reader, std::span<const weft::schedules::segment> parts) {
    numbers all;
    for (const weft::schedules::segment& from : parts) {
      const std::size_t rank = from.owner == weft::schedules::me ? reader : static_cast<std::size_t>(from.owner);
      if (from.in == weft::schedules::buffer::scratch) {
        const numbers& slot = memories_[rank].slots[from.slot];
        all.insert(all.end(), slot.begin(), slot.begin() + count_of(rank, from));
        continue;
      }
      for (std::uint32_t b = 0; b < from.elements.count; ++b) {
        const numbers& block = block_at(rank, from, b);
        all.insert(all.end(), block.begin(), block.end());
      }
    }
    return all;
  }
  void write(std::size_t writer, std::span<const weft::schedules::segment> parts, const numbers& content) {
    auto next = content.begin();
    for (const weft::schedules::segment& to : parts) {
      const std::size_t rank = to.owner == weft::schedules::me ? writer : static_cast<std::size_t>(to.owner);
      if (to.in == weft::schedules::buffer::scratch) {
        std::copy_n(next, count_of(rank, to), memories_[rank].slots[to.slot].begin());
        next += count_of(rank, to);
        continue;
      }
      for (std::uint32_t b = 0; b < to.elements.count; ++b) {
        numbers& block = block_at(rank, to, b);
        if (to.in == weft::schedules::buffer::board)
          block.resize(elements_of(ranks_[rank].cut, options_.elements, {to.elements.first + b, 1}).count);
        std::copy_n(next, block.size(), block.begin());
        next += static_cast<std::ptrdiff_t>(block.size());
      }
    }
  }
  /// Numbers at random into all of it.
  void spoil(std::size_t rank, std::span<const weft::schedules::segment> parts) {
    std::ptrdiff_t count = 0;
    for (const weft::schedules::segment& part : parts) count += count_of(rank, part);
    write(rank, parts, poison(static_cast<std::size_t>(count)));
  }

  std::uint64_t combined(std::uint64_t first, std::uint64_t second) const {
    using weft::schedules::collective;
    const bool ordered = options_.meant.kind == collective::scan || options_.meant.kind == collective::exscan;
    return ordered ? composed(first, second) : first + second;
  }

  /// Whether the inputs are what they were, unless in place, and the outputs what the collective makes.
  bool outputs_right() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const weft::schedules::layout& cut = ranks_[rank].cut;
      if (!options_.in_place && memories_[rank].input != memories_[rank].input_before) return false;
      for (std::uint32_t i = 0; i < cut.output.count; ++i) {
        const std::uint32_t block = cut.output.at(i);
        const std::size_t first = elements_of(cut, options_.elements, {block, 1}).first;
        const numbers& held = block_at(rank, {weft::schedules::me, weft::schedules::buffer::output, 0, {block, 1}}, 0);
        for (std::size_t e = 0; e < held.size(); ++e)
          if (held[e] != expected(rank, first + e, block)) return false;
      }
    }
    return true;
  }

 private:
  struct memory {
    std::vector<numbers> input, output, work;  // of each block held
    std::vector<numbers> input_before;
    std::vector<numbers> slots;
    std::vector<numbers> board;  // a block a position
  };

  void set_up(std::size_t rank) {
    const weft::schedules::schedule& its = ranks_[rank];
    memory& here = memories_[rank];
    for (std::uint32_t i = 0; i < its.cut.input.count; ++i) {
      const auto [first, count] = elements_of(its.cut, options_.elements, {its.cut.input.at(i), 1});
      numbers& block = here.input.emplace_back();
      for (std::size_t e = 0; e < count; ++e) block.push_back(contribution(rank, first + e));
    }
    here.input_before = here.input;
    for (std::uint32_t i = 0; i < its.cut.output.count; ++i)
      here.output.push_back(poison(elements_of(its.cut, options_.elements, {its.cut.output.at(i), 1}).count));
    for (std::uint32_t i = 0; i < its.cut.work.count; ++i)
      here.work.push_back(poison(elements_of(its.cut, options_.elements, {its.cut.work.at(i), 1}).count));
    for (std::uint32_t i = 0; i < its.cut.scratch_slots; ++i)
      here.slots.push_back(poison(most_elements(its.cut, options_.elements, its.cut.slot_blocks)));
    here.board.resize(its.cut.board);
  }

  numbers poison(std::size_t count) {
    numbers made(count);
    std::generate(made.begin(), made.end(), std::ref(random_));
    return made;
  }

  /// Block number `b` of a segment of `rank`. In place, the input is the memory of every block that both buffers hold.
  numbers& block_at(std::size_t rank, const weft::schedules::segment& of, std::uint32_t b) {
    using weft::schedules::buffer;
    const weft::schedules::layout& cut = ranks_[rank].cut;
    memory& here = memories_[rank];
    const std::uint32_t block = of.elements.first + b;
    if (of.in == buffer::board) return here.board[of.slot + b];
    if (of.in == buffer::work) return here.work[cut.work.position(block)];
    const bool use_input = of.in == buffer::input || (options_.in_place && cut.input.holds({block, 1}));
    return use_input ? here.input[cut.input.position(block)] : here.output[cut.output.position(block)];
  }

  std::ptrdiff_t count_of(std::size_t rank, const weft::schedules::segment& of) const {
    return static_cast<std::ptrdiff_t>(elements_of(ranks_[rank].cut, options_.elements, of.elements).count);
  }

  std::uint64_t sum(std::size_t element, std::size_t ranks) const {
    std::uint64_t all = contribution(0, element);
    for (std::size_t rank = 1; rank < ranks; ++rank) all = combined(all, contribution(rank, element));
    return all;
  }

  std::uint64_t expected(std::size_t rank, std::size_t element, std::uint32_t block) const {
    const std::uint32_t chunk = block / ranks_[0].cut.segments;
    using weft::schedules::collective;
    switch (options_.meant.kind) {
      case collective::broadcast:
      case collective::scatter:
        return contribution(static_cast<std::size_t>(options_.meant.root), element);
      case collective::allgather:
      case collective::gather:
        return contribution(chunk, element);
      case collective::alltoall:
        return contribution(chunk / ranks_.size(), element);
      case collective::scan:
        return sum(element, rank + 1);
      case collective::exscan:
        return sum(element, rank);
      case collective::reduce:
      case collective::allreduce:
      case collective::reduce_scatter:
      case collective::barrier:
        break;
    }
    return sum(element, ranks_.size());
  }

  const run_options options_;
  const std::span<const weft::schedules::schedule> ranks_;
  std::mt19937_64& random_;
  std::vector<memory> memories_;
};

}  // namespace weft_test
