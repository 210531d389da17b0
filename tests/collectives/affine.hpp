// An operator that does not commute, and every collective that combines by it, against the serial result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/communicator.hpp>

#include "run_ranks.hpp"

namespace weft_test {

/// x -> factor * x + offset; one after another is associative and does not commute.
struct affine {
  std::uint64_t factor = 1, offset = 0;
  friend bool operator==(const affine&, const affine&) = default;
};
inline affine of_rank(int world_rank, std::size_t i) {
  return {2 * static_cast<std::uint64_t>(world_rank) + 3, static_cast<std::uint64_t>(world_rank) * 17 + i};
}
inline affine after(const affine& first, const affine& second) {
  return {first.factor * second.factor, first.offset * second.factor + second.offset};
}
inline const auto in_order = weft::make_operator<affine>(
    [](const affine* in, affine* inout, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) inout[i] = after(in[i], inout[i]);
    },
    weft::does_not_commute);

/// Those of `on`, whose ranks have these ranks in the world.
inline void check_order(weft::communicator& on, const std::vector<int>& world_ranks, std::size_t count) {
  std::vector<affine> mine(count), right(count), out(count);
  const int me = world_ranks[static_cast<std::size_t>(on.rank())];
  for (std::size_t i = 0; i < count; ++i) {
    mine[i] = of_rank(me, i);
    for (const int r : world_ranks) right[i] = after(right[i], of_rank(r, i));
  }
  on.allreduce(mine, out, in_order);
  expect(out == right, "the operands in the order of the ranks");
  const int root = on.size() / 2;
  out = mine;
  on.reduce(out, out, in_order, root);
  expect(out == (on.rank() == root ? right : mine), "the same of the root alone");

  const auto size = static_cast<std::size_t>(on.size()), rank = static_cast<std::size_t>(on.rank());
  std::vector<affine> so_far(count), before(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t r = 0; r <= rank; ++r) {
      before[i] = so_far[i];
      so_far[i] = after(so_far[i], of_rank(world_ranks[r], i));
    }
  out = mine;
  on.scan(out, out, in_order);
  expect(out == so_far, "those up to this rank, in place");
  out = mine;
  on.exscan(mine, out, in_order);
  expect(out == (rank == 0 ? mine : before), "those before this rank");

  std::vector<affine> blocks(size * count), block(count);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = of_rank(me, i);
  on.reduce_scatter(blocks, block, in_order);
  for (std::size_t i = 0; i < count; ++i) {
    affine all;
    for (const int r : world_ranks) all = after(all, of_rank(r, rank * count + i));
    expect(block[i] == all, "element ", i, " of this rank's block, in the order of the ranks");
  }
}

inline std::vector<int> all_ranks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) all[static_cast<std::size_t>(r)] = r;
  return all;
}

}  // namespace weft_test
