// SPDX-License-Identifier: Apache-2.0
// Sorts numbers that are spread over the ranks: samples say which rank gets which.  sample_sort [NUMBERS OF EACH RANK]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
#include <weft/weft.hpp>

namespace {

using numbers = std::vector<std::uint64_t>;

numbers drawn(std::size_t count, int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  numbers all(count);
  for (std::uint64_t& each : all) each = random() % 1'000'000;
  return all;
}

/// The numbers of all ranks, in order from rank to rank.
numbers sorted(weft::communicator& world, numbers mine) {
  const auto ranks = static_cast<std::size_t>(world.size());
  std::ranges::sort(mine);
  numbers samples;
  for (std::size_t i = 1; i < ranks && !mine.empty(); ++i) samples.push_back(mine[i * mine.size() / ranks]);
  samples = world.allgatherv(samples);
  std::ranges::sort(samples);

  std::vector<std::size_t> sent(ranks);
  for (std::size_t rank = 0, begin = 0; rank < ranks; ++rank) {
    const bool is_last = rank + 1 == ranks || samples.empty();
    const auto end =
        is_last ? mine.end() : std::ranges::upper_bound(mine, samples[(rank + 1) * samples.size() / ranks]);
    sent[rank] = std::max(static_cast<std::size_t>(end - mine.begin()), begin) - begin;
    begin += sent[rank];
  }
  std::vector<std::size_t> received(ranks);
  world.alltoall(sent, received);
  numbers all(std::reduce(received.begin(), received.end()));
  world.alltoall(mine, all, sent, received);
  std::ranges::sort(all);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000;
    runtime.run([&](weft::communicator& world) {
      const numbers part = sorted(world, drawn(count, world.rank()));
      std::vector<std::size_t> counts;
      const numbers all = world.gatherv(part, 0, &counts);
      if (world.rank() != 0) return;
      numbers serial;
      for (int rank = 0; rank < world.size(); ++rank) std::ranges::copy(drawn(count, rank), std::back_inserter(serial));
      std::ranges::sort(serial);
      if (all != serial) throw weft::error(weft::errc::operation_failed, "sample_sort: not what a serial sort gives");
      std::printf("%zu numbers on %d ranks, %zu on the fullest: as the serial sort\n", all.size(), world.size(),
                  std::ranges::max(counts));
    });
  } catch (const weft::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
