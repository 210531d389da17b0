// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/builders.hpp>

#include "arguments.hpp"
#include "memory_emitter.hpp"

namespace weft::schedules {
namespace {

/// `count` chunks from `first` on, around.
std::vector<block_range> around(long long first, long long count, long long ranks) {
  const auto range = [](long long begin, long long length) {
    return block_range{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(length)};
  };
  const long long begin = first % ranks;
  const long long before_end = std::min(count, ranks - begin);
  if (before_end == count) return {range(begin, count)};
  return {range(begin, before_end), range(0, count - before_end)};
}

}  // namespace

/// Emits `rank`'s steps of an all-gather by Bruck, Ho, Kipnis, Upfal and Weathersby 1997: in round k a rank sends the
/// first 2^k chunks that it has, its own first, to the rank 2^k before it, around, and gets as many from 2^k behind.
///
///     rank      0      1      2      3      4         5 ranks, what each has
///     round 0   01     12     23     34     40        from the next
///     round 1   0123   1234   2340   3401   4012      from the second next
///     round 2   all                                   what is missing, from the fourth next
///
/// ceil(log2 p) α + (p - 1) / p n β: the fewest rounds there can be. Best for short chunks and any number of ranks.
/// Each chunk lands at its place in the output, so that there is nothing to rotate; a message that goes around the end
/// of the vector has two parts. The input is chunk `rank`, the output the whole vector, of which the input may be that
/// chunk. Throws std::invalid_argument for a bad rank.
void bruck_allgather(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  const auto chunks = static_cast<std::uint32_t>(ranks);
  const block_range own{static_cast<std::uint32_t>(rank), 1};
  memory_emitter emit(to, {chunks, 1, own, block_range{0, chunks}, 0, 0}, 1);
  for (long long distance = 1; distance < ranks; distance *= 2) {
    const long long count = std::min(distance, ranks - distance);
    std::vector<segment> sent, received;
    for (const block_range part : around(rank, count, ranks))
      for (const segment& piece : emit.value(part)) sent.push_back(piece);
    for (const block_range part : around(rank + distance, count, ranks)) received.push_back(emit.home(part));
    emit.receive(static_cast<int>((rank + distance) % ranks), received);
    emit.send(static_cast<int>((rank + ranks - distance) % ranks), sent);
  }
  emit.settle(own);
}

}  // namespace weft::schedules
