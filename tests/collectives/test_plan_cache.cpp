// What a cache of plans keeps, and what it lets go.
#include <memory>
#include <utility>
#include <vector>
#include <weft/executor/plan_cache.hpp>

#include "execution_job.hpp"

using namespace weft::schedules;
using namespace weft_test;
using weft::detail::bound_schedule;
using weft::detail::collective_call;
using weft::detail::in_order_execution;
using weft::detail::plan_cache;

namespace {

collective_call call_of(std::size_t count) {
  collective_call call;
  call.how = find_algorithm(collective::allreduce, "recursive-doubling");
  call.count = count;
  return call;
}

/// Rank 0's plan of an all-reduce of two ranks: all take as much memory.
std::shared_ptr<const bound_schedule> any_plan() {
  algorithm_arguments shape;
  shape.ranks = 2;
  const schedule first = schedules_of(*call_of(1).how, shape).front();
  return std::make_shared<bound_schedule>(
      first, partition(100), sizeof(number),
      weft::kernels::combine(weft::kernels::operation::sum, weft::kernels::type::int64));
}

}  // namespace

TEST_CASE("a cache of plans lets go of those that were used the longest ago") {
  const std::size_t each = any_plan()->footprint();
  constexpr std::size_t kept = 3;
  plan_cache cache(kept * each + each / 2);
  const auto has = [&](std::size_t count) { return cache.find(call_of(count)) != nullptr; };
  for (std::size_t count = 1; count <= kept; ++count) cache.add(call_of(count), any_plan());
  CHECK(cache.used() == kept * each);
  CHECK(has(1));  // from now on the latest
  cache.add(call_of(10), any_plan());
  CHECK(cache.used() == kept * each);
  CHECK_FALSE(has(2));
  CHECK((has(1) && has(3) && has(10)));
  for (std::size_t count = 100; count < 200; ++count) {
    cache.add(call_of(count), any_plan());
    REQUIRE(cache.used() == kept * each);
  }
  CHECK_FALSE((has(1) || has(3) || has(10) || has(196)));
  CHECK((has(197) && has(198) && has(199)));
}

TEST_CASE("a plan that is longer than a cache's limit stays there until the next") {
  const std::size_t each = any_plan()->footprint();
  plan_cache cache(each / 2);
  const auto first = cache.add(call_of(1), any_plan());
  CHECK(cache.find(call_of(1)) == first);
  cache.add(call_of(2), any_plan());
  CHECK(cache.find(call_of(1)) == nullptr);
  CHECK(cache.find(call_of(2)) != nullptr);
  CHECK(first->dropped);
  CHECK(cache.used() == each);
}

TEST_CASE("what ran of a plan counts as well, and goes with it") {
  messenger_job job(job_shape{});
  const auto members = job.world();
  const auto plan = any_plan();
  const auto made = [&] { return std::make_unique<in_order_execution>(job[0], *members[0], nullptr, plan); };
  plan_cache unlimited(SIZE_MAX);
  const auto entry = unlimited.add(call_of(1), plan);
  const auto one = static_cast<std::size_t>(entry->bytes_of_each());
  unlimited.put_back(entry, made());
  CHECK(unlimited.used() == plan->footprint() + one);

  plan_cache cache(plan->footprint() + 3 * one);
  const auto only = cache.add(call_of(1), plan);
  for (int i = 0; i < 10; ++i) cache.put_back(only, made());
  CHECK(only->in_order.size() == 3);
  CHECK(cache.used() == plan->footprint() + 3 * one);
  auto taken = cache.take<in_order_execution>(*only);
  CHECK(cache.used() == plan->footprint() + 2 * one);
  cache.put_back(only, std::move(taken));
  CHECK(cache.used() == plan->footprint() + 3 * one);
  cache.add(call_of(2), plan);
  CHECK(only->dropped);
  CHECK(cache.used() == plan->footprint());
  cache.put_back(only, made());  // of a call that was in flight
  CHECK(only->in_order.empty());
  CHECK(cache.used() == plan->footprint());
}
