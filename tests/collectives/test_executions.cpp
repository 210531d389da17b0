// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the table through both executors, over a loopback network, against the serial result.
#include <algorithm>
#include <functional>
#include <numeric>

#include "execution_job.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft::schedules;
using namespace weft_test;

namespace {

/// Few ranks, and some numbers of many.
std::vector<int> numbers_of_ranks(std::mt19937_64& random) {
  if (slowed) return {1, 2, 3, 4, 5, 9, 17, 25, 33};
  std::vector<int> few(9), many(24);
  std::iota(few.begin(), few.end(), 1);
  std::iota(many.begin(), many.end(), 10);
  for (const int ranks : drawn(many, 6, random)) few.push_back(ranks);
  return few;
}

}  // namespace

TEST_CASE("every algorithm gives the serial result through both executors") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const int ranks : numbers_of_ranks(random)) {
    execution_job job(ranks);
    for (const algorithm& by : algorithms()) {
      if (by.pattern != memory_pattern::none) continue;  // not carried out by messages
      std::vector<algorithm_arguments> shapes;
      for_each_shape(by, ranks, [&](const algorithm_arguments& shape) { shapes.push_back(shape); });
      const auto n = static_cast<std::size_t>(ranks);
      for (const std::size_t elements :
           {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{1000}, std::size_t{65537}}) {
        const algorithm_arguments& shape = shapes[random() % shapes.size()];
        const auto all = schedules_of(by, shape);
        const bool in_place = random() % 2 == 0 && by.kind != collective::alltoall;
        for (const bool in_order : {false, true}) {
          INFO(text_of(by, shape));
          CAPTURE(elements, in_place, in_order);
          job.run(meant_by(by, shape), all, balanced(all[0].cut, elements), in_place, in_order);
        }
      }
    }
  }
}

TEST_CASE("chunks of counts of their own go where they belong") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const int ranks : {1, 2, 3, 5, 8, 13}) {
    execution_job job(ranks);
    for (const algorithm& by : algorithms()) {
      const bool pairs = by.kind == collective::alltoall;
      const bool shared = by.kind == collective::reduce_scatter || by.kind == collective::allgather ||
                          by.kind == collective::gather || by.kind == collective::scatter;
      if (by.pattern != memory_pattern::none || (!shared && !(pairs && by.name == "pairwise"))) continue;
      std::vector<algorithm_arguments> shapes;
      for_each_shape(by, ranks, [&](const algorithm_arguments& shape) { shapes.push_back(shape); });
      std::shuffle(shapes.begin(), shapes.end(), random);
      if (shapes.size() > 8) shapes.resize(8);
      for (const algorithm_arguments& shape : shapes) {
        const auto all = schedules_of(by, shape);
        sizes uneven;
        for (std::uint32_t chunk = 0; chunk < all[0].cut.chunks; ++chunk)
          uneven.of_chunk.push_back(random() % 3 == 0 ? 0 : random() % 200);
        const auto n = static_cast<std::size_t>(ranks);
        uneven.as_seen_by = [&](int rank) {
          if (!pairs) return partition::of_chunks(uneven.of_chunk);
          std::vector<std::size_t> sent, received;
          for (std::size_t other = 0; other < n; ++other) {
            sent.push_back(uneven.of_chunk[static_cast<std::size_t>(rank) * n + other]);
            received.push_back(uneven.of_chunk[other * n + static_cast<std::size_t>(rank)]);
          }
          return partition::of_pairs(rank, sent, received);
        };
        INFO(text_of(by, shape));
        for (const bool in_order : {false, true})
          job.run(meant_by(by, shape), all, uneven, random() % 2 == 0 && !pairs, in_order);
      }
    }
  }
}
