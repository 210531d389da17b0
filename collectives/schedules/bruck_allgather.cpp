#include <algorithm>
#include <weft/schedules/bruck_allgather.hpp>

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
