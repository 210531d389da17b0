// SPDX-License-Identifier: Apache-2.0
// More elements than an int counts.
#include <algorithm>
#include <fstream>
#include <span>

#include "jobs/setting.hpp"
#include "run_ranks.hpp"

using namespace weft_test;

namespace {

constexpr std::size_t count = (std::size_t{1} << 31) + 5;

/// GiB that the kernel says can be had.
std::size_t memory_available() {
  std::ifstream lines("/proc/meminfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) >> 20;
  return 0;
}

/// Elements are looked at in blocks, which stay in a cache.
constexpr std::size_t block = 1 << 16;

/// What rank `rank` has in the `number`-th block: another one in each.
std::span<const std::uint8_t> values(std::size_t number, int rank, std::vector<std::uint64_t>& words) {
  words.resize(block / sizeof(std::uint64_t));
  std::uint64_t word = number << 8 | static_cast<std::uint64_t>(rank);
  for (std::uint64_t& each : words) each = word += 0x9e3779b97f4a7c15u;
  return {reinterpret_cast<const std::uint8_t*>(words.data()), block};
}

/// Calls `each(block of `data`, its number)`.
template <class Each>
void for_each_block(std::span<std::uint8_t> data, Each&& each) {
  for (std::size_t at = 0; at < data.size(); at += block)
    each(data.subspan(at, std::min(block, data.size() - at)), at / block);
}

void fill(std::span<std::uint8_t> data, int rank) {
  std::vector<std::uint64_t> words;
  for_each_block(data, [&](std::span<std::uint8_t> part, std::size_t number) {
    std::copy_n(values(number, rank, words).begin(), part.size(), part.begin());
  });
}

}  // namespace

TEST_CASE("collectives of more than 2^31 elements", "[large]") {
  if (memory_available() < 8) skip("takes 5 GiB of memory");
  job what;
  what.processes = GENERATE(1, 2);
  what.ranks_per_process = 3 - what.processes;
  what.patience = std::chrono::seconds(560);
  run_ranks(what, [](weft::communicator& world) {
    const auto memory = std::make_unique_for_overwrite<std::uint8_t[]>(count);
    const std::span<std::uint8_t> data(memory.get(), count);
    std::vector<std::uint64_t> words, others;
    std::vector<std::uint8_t> most(block);
    fill(data, world.rank());
    world.bcast(data, 1);
    for_each_block(data, [&](std::span<std::uint8_t> part, std::size_t number) {
      expect(std::ranges::equal(part, values(number, 1, words).first(part.size())), "block ", number,
             " of the broadcast");
    });
    fill(data, world.rank());
    world.allreduce(data, data, weft::max);
    for_each_block(data, [&](std::span<std::uint8_t> part, std::size_t number) {
      std::ranges::transform(values(number, 0, words), values(number, 1, others), most.begin(),
                             [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
      expect(std::ranges::equal(part, std::span(most).first(part.size())), "block ", number, " of the maximum");
    });
  });
}
