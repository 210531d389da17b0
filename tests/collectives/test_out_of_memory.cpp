// SPDX-License-Identifier: Apache-2.0
// Memory that runs out anywhere in the life of a runtime: what needed it throws, and nothing stays behind.
//
// By default one of some allocations fails; WEFT_TEST_SHORTAGES=1 tries each, and a greater number every so many, from
// WEFT_TEST_FIRST_SHORTAGE on.
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/failing_allocation.hpp"
#include "fabric/watched_transport.hpp"
#include "jobs/setting.hpp"
#include "joined_job.hpp"
#include "runtime/served_store.hpp"

using namespace weft_test;

namespace {

std::ptrdiff_t entries(const char* folder) { return std::distance(std::filesystem::directory_iterator(folder), {}); }

std::ptrdiff_t threads() { return entries("/proc/self/task"); }

/// What this process has.
struct belongings {
  std::ptrdiff_t descriptors = entries("/proc/self/fd");
  std::ptrdiff_t of_threads = threads();  // a sanitizer has one, too
  std::int64_t bytes = bytes_in_use();
};

/// Whether there are no more threads than before. One that was joined is still seen for a moment.
bool all_joined(const belongings& before) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  while (threads() > before.of_threads)
    if (std::chrono::steady_clock::now() > deadline) return false;
  return true;
}

/// Those that fail; with `in_threads` of weft's own threads, else of one process's thread.
struct shortage {
  std::int64_t fail_at;
  std::int64_t failures;
  bool in_threads;
};

/// Calls of every form.
void call_all(weft::communicator& world) {
  const int all = world.size(), next = (world.rank() + 1) % all, last = (world.rank() + all - 1) % all;
  for (const std::size_t count : {1, 3000}) {
    std::vector<std::int64_t> in(count, world.rank() + 1), out(count), blocks(count * static_cast<std::size_t>(all));
    world.allreduce(in, out, weft::sum);
    expect(out.back() == std::int64_t{all} * (all + 1) / 2, "the sum");
    world.bcast(out, 1);
    world.allgather(in, blocks);
    world.ialltoall(blocks, blocks).wait();
    world.sendrecv(in, next, 3, out, last, 3);
    expect(out.front() == last + 1, "what was sent");
    auto sum = world.plan_allreduce(in, out, weft::sum);
    for (int time = 0; time < 2; ++time) {
      sum.start();
      sum.wait();
    }
  }
  world.split(world.rank() % 2)->barrier();
}

/// Those too that know of no failure. Of a process with several ranks they wait for one that has thrown.
void do_all(weft::communicator& world) {
  call_all(world);
  auto same = world.dup();
  expect(same.agree(1).flag == 1, "what all agree on");
  same.shrink().barrier();
}

/// What of one process did not go well.
struct course {
  std::exception_ptr in_constructor, in_program;
  std::int64_t allocations = 0;  ///< of its thread, tried
};

course live(weft::detail::membership member, served& server, const shortage* harming) {
  course seen;
  const int process = member.rendezvous->process();
  const bool several = member.ranks > 1;
  member.rendezvous = server.join(process);
  traffic_counts counted;  // in front of the test's network, which has memory
  member.network = std::make_unique<watched_transport>(std::move(member.network), counted, member.settings.eager_limit);
  if (harming != nullptr) allocation_faults::here() = {harming->fail_at, harming->failures};
  {
    std::optional<allocations_that_may_fail> harmed;
    if (harming != nullptr) harmed.emplace();
    std::optional<weft::runtime> runtime;
    try {
      runtime.emplace(std::move(member));
    } catch (...) {
      seen.in_constructor = std::current_exception();
      const allocations_that_succeed unharmed;
      server.lose(process);  // as a launcher does when a process ends
    }
    try {
      if (runtime) runtime->run(several ? call_all : do_all);
    } catch (...) {
      seen.in_program = std::current_exception();
    }
  }
  seen.allocations = std::exchange(allocation_faults::here(), {}).count;
  return seen;
}

void expect_typed(const std::exception_ptr& failure, bool bare) {
  if (failure == nullptr) return;
  try {
    std::rethrow_exception(failure);
  } catch (const weft::error&) {
  } catch (const std::bad_alloc&) {
    CHECK(bare);
  } catch (const std::exception& other) {
    FAIL_CHECK(other.what());
  }
}

/// A job of which one process, or the threads of all, run short. How many allocations of those were tried.
std::int64_t run_short(const job& what, const shortage& when) {
  std::vector<course> seen(static_cast<std::size_t>(what.processes));
  served server(job_of(what.processes));
  std::optional<allocation_faults_in_threads> in_threads;
  if (when.in_threads) in_threads.emplace(when.fail_at, when.failures);
  const auto failures = run_members(what, [&](int process, weft::detail::membership member) {
    const bool harmed = process == 0 && !when.in_threads;
    seen[static_cast<std::size_t>(process)] = live(std::move(member), server, harmed ? &when : nullptr);
  });
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
  for (const course& each : seen) {
    expect_typed(each.in_constructor, when.failures > 1);  // there may be none for the message
    expect_typed(each.in_program, true);
  }
  return when.in_threads ? in_threads->count() : seen[0].allocations;
}

/// One after another, until there are no more.
void run_short_everywhere(const job& what, bool in_threads, int step) {
  run_short(what, {0, 0, in_threads});  // what is made once
  step = setting("SHORTAGES", step);
  for (const std::int64_t failures : {1, 5}) {
    for (std::int64_t fail_at = setting("FIRST_SHORTAGE", 0);; fail_at += step) {
      CAPTURE(fail_at, failures);
      const belongings before;
      const std::int64_t count = run_short(what, {fail_at, failures, in_threads});
      const belongings after;
      CHECK(after.descriptors == before.descriptors);
      CHECK(all_joined(before));
      CHECK(after.bytes == before.bytes);
      if (fail_at >= count) break;
    }
  }
  run_ranks(what, do_all);
}

}  // namespace

TEST_CASE("a process runs out of memory", "[caller]") {
  SECTION("in the memory of a node") { run_short_everywhere(small_job(2), false, 61); }
  SECTION("over the network") {
    job what = small_job(2);
    what.nodes = {"a", "b"};
    run_short_everywhere(what, false, 61);
  }
  SECTION("with several ranks") { run_short_everywhere(joined_job(2, 2, 1), false, 97); }
}

TEST_CASE("a thread of weft's runs out of memory", "[threads]") {
  job what = small_job(2);
  SECTION("in the memory of a node") {}
  SECTION("over the network") { what.nodes = {"a", "b"}; }
  SECTION("that makes progress") { what.settings.progress = weft::progress_mode::thread; }
  SECTION("that runs ranks") { what = joined_job(2, 2, 2); }
  run_short_everywhere(what, true, 41);
}
