// SPDX-License-Identifier: Apache-2.0
// Operators that throw, in every algorithm that combines: who is told, who is not, and that nothing is left behind.
#include <set>
#include <vector>

#include "execution_job.hpp"

using namespace weft::schedules;
using namespace weft_test;

namespace {

struct thrown_by_test {
  int rank;
};

/// A sum that throws at one of its calls.
struct summing {
  int rank = 0;
  int throws_at = 0;  ///< the call; 0: at none
  int calls = 0;
  int thrown = 0;

  weft::detail::user_function erased() {
    return {[](const void* of, const void* in, void* inout, std::size_t count) {
              auto& self = *static_cast<summing*>(const_cast<void*>(of));
              if (++self.calls == self.throws_at) {
                ++self.thrown;
                throw thrown_by_test{self.rank};
              }
              for (std::size_t i = 0; i < count; ++i)
                static_cast<number*>(inout)[i] += static_cast<const number*>(in)[i];
            },
            this, weft::commutes};
  }
};

/// The ranks that something of what `origin` combines can reach: over dependencies, and over messages.
std::set<int> ranks_reached(const std::vector<schedule>& all, int origin) {
  std::vector<std::vector<bool>> reached;
  for (const schedule& its : all) reached.emplace_back(its.steps.size());
  std::vector<std::pair<std::size_t, step_index>> next;
  const auto reach = [&](std::size_t rank, step_index i) {
    if (reached[rank][i]) return;
    reached[rank][i] = true;
    next.emplace_back(rank, i);
  };
  const auto first = static_cast<std::size_t>(origin);
  for (step_index i = 0; i < all[first].steps.size(); ++i)
    if (all[first].steps[i].kind == step_kind::combine) reach(first, i);
  std::set<int> ranks;
  while (!next.empty()) {
    const auto [rank, i] = next.back();
    next.pop_back();
    ranks.insert(static_cast<int>(rank));
    for (step_index later = i + 1; later < all[rank].steps.size(); ++later)
      for (const step_index before : all[rank].after(all[rank].steps[later]))
        if (before == i) reach(rank, later);
    const step& from = all[rank].steps[i];
    if (from.kind != step_kind::send && from.kind != step_kind::notify) continue;
    const auto peer = static_cast<std::size_t>(from.peer);
    const step_kind matching = from.kind == step_kind::send ? step_kind::receive : step_kind::await;
    for (step_index to = 0; to < all[peer].steps.size(); ++to) {
      const step& other = all[peer].steps[to];
      if (other.kind == matching && other.peer == static_cast<int>(rank) && other.ordinal == from.ordinal)
        reach(peer, to);
    }
  }
  return ranks;
}

/// What the outcome of `rank` must be when the operator of `origin` has thrown.
void check(const execution_job::outcome& ended, int rank, int origin, bool reachable) {
  CAPTURE(rank, origin, reachable);
  if (rank == origin) {
    REQUIRE(ended.failure != nullptr);
    CHECK_THROWS_AS(std::rethrow_exception(ended.failure), thrown_by_test);
    return;
  }
  if (ended.failure == nullptr) {
    REQUIRE(ended.right);  // it did not depend on what the other was to make
    return;
  }
  REQUIRE(reachable);
  const auto failure = describe(ended.failure);
  REQUIRE(failure.code == weft::errc::operation_failed);
  REQUIRE(failure.text == "the operator of rank " + std::to_string(origin) + " threw: not a std::exception");
}

}  // namespace

TEST_CASE("what an operator throws reaches the ranks that depend on it, and no call after it") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  int failed_elsewhere = 0, ended_well = 0;
  for (int ranks = 2; ranks <= 9; ++ranks) {
    execution_job job(ranks, ranks % 3 != 0);
    for (const algorithm& by : algorithms()) {
      if (by.pattern != memory_pattern::none) continue;  // not carried out by messages
      if (!combines(by.kind)) continue;
      std::vector<algorithm_arguments> shapes;
      for_each_shape(by, ranks, [&](const algorithm_arguments& shape) { shapes.push_back(shape); });
      for (const std::size_t elements : {std::size_t{1}, std::size_t{1000}, std::size_t{65537}}) {
        const algorithm_arguments& shape = shapes[random() % shapes.size()];
        const auto all = schedules_of(by, shape);
        const auto of = balanced(all[0].cut, elements);
        for (const bool in_order : {false, true}) {
          INFO(text_of(by, shape));
          const int origin = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
          std::vector<summing> operators(all.size());
          for (int rank = 0; rank < ranks; ++rank) operators[static_cast<std::size_t>(rank)].rank = rank;
          summing& throwing = operators[static_cast<std::size_t>(origin)];
          throwing.throws_at = 1 + static_cast<int>(random() % 4);
          CAPTURE(elements, in_order, origin, throwing.throws_at);
          const auto ended = job.outcomes(meant_by(by, shape), all, of, false, in_order,
                                          [&](int rank) { return operators[static_cast<std::size_t>(rank)].erased(); });
          const auto reached = ranks_reached(all, origin);
          for (int rank = 0; rank < ranks; ++rank) {
            const auto& its = ended[static_cast<std::size_t>(rank)];
            if (throwing.thrown != 0) {
              check(its, rank, origin, reached.contains(rank));
              ++(its.failure == nullptr ? ended_well : failed_elsewhere);
            } else {
              REQUIRE(its.failure == nullptr);
              REQUIRE(its.right);
            }
          }
          job.run(meant_by(by, shape), all, of, false, in_order);  // the same plans and communicator, once more
        }
      }
    }
  }
  CHECK(failed_elsewhere > 100);
  CHECK(ended_well > 100);
}
