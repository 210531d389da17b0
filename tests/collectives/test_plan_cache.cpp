// SPDX-License-Identifier: Apache-2.0
// What a cache of plans keeps, and what it lets go.
#include <memory>
#include <utility>
#include <vector>
#include <weft/executor/plan_cache.hpp>

#include "execution_job.hpp"
#include "heap_in_use.hpp"
#include "sanitized.hpp"

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

/// What one of those takes in a cache.
std::size_t bytes_of_any() {
  plan_cache unlimited(SIZE_MAX);
  unlimited.add(call_of(1), any_plan());
  return unlimited.used();
}

/// Rank 0's plan of `count` elements in some ranks, by an algorithm of any kind.
std::shared_ptr<const bound_schedule> plan_of(const algorithm& how, int ranks, std::size_t count) {
  algorithm_arguments shape;
  shape.ranks = ranks;
  const schedule first = schedules_of(how, shape).front();
  return std::make_shared<bound_schedule>(
      first, partition(count * static_cast<std::size_t>(ranks)), sizeof(number),
      weft::kernels::combine(weft::kernels::operation::sum, weft::kernels::type::int64));
}

}  // namespace

TEST_CASE("a cache of plans lets go of those that were used the longest ago") {
  const std::size_t each = bytes_of_any();
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
  const std::size_t each = bytes_of_any();
  plan_cache cache(each / 2);
  const auto first = cache.add(call_of(1), any_plan());
  CHECK(cache.find(call_of(1)) == first);
  cache.add(call_of(2), any_plan());
  CHECK(cache.find(call_of(1)) == nullptr);
  CHECK(cache.find(call_of(2)) != nullptr);
  CHECK(first->dropped);
  CHECK(cache.used() == each);
}

TEST_CASE("where memory is scarce what is idle goes for a new plan, and that is not kept") {
  const std::size_t each = bytes_of_any();
  const auto memory = std::make_shared<weft::memory_budget>(8 * each);
  memory->begin_to_limit();
  plan_cache first(SIZE_MAX, memory);
  const auto has = [](plan_cache& cache, std::size_t count) { return cache.find(call_of(count)) != nullptr; };
  for (std::size_t count = 1; count <= 4; ++count) first.add(call_of(count), any_plan());
  CHECK(memory->taken() == 4 * each);  // a half
  first.add(call_of(5), any_plan());
  CHECK(memory->taken() == 4 * each);
  CHECK_FALSE(has(first, 1));
  CHECK((has(first, 2) && has(first, 5)));
  {
    plan_cache second(SIZE_MAX, memory);
    const auto one = second.add(call_of(1), any_plan());
    const auto other = second.add(call_of(2), any_plan());
    CHECK_FALSE((has(second, 1) || has(second, 2)));
    CHECK(memory->taken() == 6 * each);
    second.note({}, one);
    CHECK(second.noted({}) == nullptr);
    second.add(call_of(3), any_plan());  // seven eighths
    const auto third = second.add(call_of(4), any_plan());
    CHECK_THROWS_WITH(second.add(call_of(5), any_plan()), ContainsSubstring("the plan of a collective by messages"));
  }
  CHECK(memory->taken() == 4 * each);
}

TEST_CASE("idle plans go where there is no memory for a run") {
  const std::size_t each = bytes_of_any();
  job_shape shape;
  const auto memory = shape.settings.memory = std::make_shared<weft::memory_budget>(std::size_t{64} << 20);
  messenger_job job(shape);
  memory->begin_to_limit();
  const auto members = job.world();
  const auto plan = any_plan();
  plan_cache cache(SIZE_MAX, memory);
  const auto make = [&] { return cache.make<in_order_execution>(job[0], *members[0], nullptr, plan); };
  const std::size_t before = memory->taken();
  auto run = make();
  const std::size_t of_run = memory->taken() - before;
  CHECK(of_run == run->footprint());
  run = nullptr;
  CHECK(memory->taken() == before);

  const std::size_t idle = 1 + of_run / each;
  for (std::size_t count = 1; count <= idle; ++count) cache.add(call_of(count), plan);
  {
    const std::size_t for_calls = memory->limit() - memory->limit() / 8;
    weft::memory_charge others(memory, for_calls - memory->taken(), "others");
    run = make();
    CHECK(cache.find(call_of(idle)) == nullptr);
    run = nullptr;
    others.grow(for_calls - memory->taken(), "others");
    CHECK_THROWS_WITH(make(), ContainsSubstring("the run of a collective by messages takes " + std::to_string(of_run)));
  }
  const auto brief = cache.add(call_of(1), plan), lengthy = cache.add(call_of(2), plan_of(*call_of(1).how, 2, 20'000));
  for (const auto& kept : {brief, lengthy})
    cache.put_back(kept, cache.make<in_order_execution>(job[0], *members[0], nullptr, kept->plan));
  CHECK((brief->in_order.size() == 1 && lengthy->in_order.size() == 1));
  const weft::memory_charge others(memory, memory->limit() / 2, "others");
  for (const auto& kept : {brief, lengthy}) cache.put_back(kept, cache.take<in_order_execution>(*kept));
  CHECK((brief->in_order.size() == 1 && lengthy->in_order.empty()));
}

TEST_CASE("what ran of a plan counts as well, and goes with it") {
  messenger_job job(job_shape{});
  const auto members = job.world();
  const auto plan = any_plan();
  const auto made = [&] { return std::make_unique<in_order_execution>(job[0], *members[0], nullptr, plan); };
  plan_cache unlimited(SIZE_MAX);
  const auto entry = unlimited.add(call_of(1), plan);
  const std::size_t none = unlimited.used();
  unlimited.put_back(entry, made());
  const std::size_t one = unlimited.used() - none;
  CHECK(one > 0);

  plan_cache cache(none + 3 * one);
  const auto only = cache.add(call_of(1), plan);
  for (int i = 0; i < 10; ++i) cache.put_back(only, made());
  CHECK(only->in_order.size() == 3);
  CHECK(cache.used() == none + 3 * one);
  auto taken = cache.take<in_order_execution>(*only);
  CHECK(cache.used() == none + 2 * one);
  cache.put_back(only, std::move(taken));
  CHECK(cache.used() == none + 3 * one);
  cache.add(call_of(2), plan);
  CHECK(only->dropped);
  CHECK(cache.used() == none);
  cache.put_back(only, made());  // of a call that was in flight
  CHECK(only->in_order.empty());
  CHECK(cache.used() == none);
}

TEST_CASE("a cache of plans counts what its plans and what ran of them take of the heap") {
  if (slowed) return;  // whose malloc says nothing of that
  const int ranks = GENERATE(2, 5);
  const std::size_t most = GENERATE(std::size_t{1}, std::size_t{2'000});
  const int runs = GENERATE(0, 1, 3);
  messenger_job job(job_shape{.processes = ranks});
  const auto members = job.world();
  plan_cache cache(SIZE_MAX);
  const std::vector<const algorithm*> all{
      find_algorithm(collective::allreduce, "recursive-doubling"), find_algorithm(collective::allreduce, "ring"),
      find_algorithm(collective::alltoall, "pairwise"), find_algorithm(collective::broadcast, "binomial")};
  const std::size_t before = heap_in_use();
  for (std::size_t i = 0; i < 400; ++i) {
    const auto plan = plan_of(*all[i % all.size()], ranks, 1 + i % most);
    const auto entry = cache.add(call_of(i), plan);
    for (int run = 0; run < runs; ++run) {
      cache.put_back(entry, std::make_unique<in_order_execution>(job[0], *members[0], nullptr, plan));
      cache.put_back(entry, std::make_unique<dataflow_execution>(job[0], *members[0], nullptr, plan));
    }
  }
  const auto taken = static_cast<double>(heap_in_use() - before), counted = static_cast<double>(cache.used());
  INFO(ranks << " ranks, " << most << " elements, " << runs << " runs: taken " << taken << ", counted " << counted);
  CHECK(counted > 0.95 * taken);
  CHECK(counted < 1.05 * taken);
}
