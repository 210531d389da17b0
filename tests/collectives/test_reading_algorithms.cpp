// SPDX-License-Identifier: Apache-2.0
// Algorithms whose ranks read each other's memory, as started and planned collectives. Each process is a thread here;
// nodes are pretended.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>
#include <weft/schedules/algorithms.hpp>

#include "algorithm_settings.hpp"
#include "collective_cases.hpp"
#include "node_cases.hpp"
#include "run_ranks.hpp"
#include "thorough.hpp"

using namespace weft_test;
using weft::schedules::algorithm;
using weft::schedules::collective;

namespace {

std::vector<const algorithm*> reading_algorithms() {
  std::vector<const algorithm*> all;
  for (const algorithm& by : weft::schedules::algorithms())
    if ((by.parameters & weft::schedules::takes::nodes) != 0 && by.pattern == weft::schedules::memory_pattern::none)
      all.push_back(&by);
  return all;
}

/// A job of a process for each letter, on the node of that name, whose collectives go by `by`.
job on_nodes(const std::string& letters, const algorithm& by) {
  const int processes = static_cast<int>(letters.size());
  job what = small_job(processes, 1);
  what.settings = settings_for(by, processes);
  for (const char each : letters) what.nodes.emplace_back(1, each);
  return what;
}

std::string taken(weft::communicator& world, collective what) {
  using weft::detail::choices;
  const auto request = choices::request(world, what, 1000, weft::kernels::operation::sum, weft::kernels::type::float32);
  return std::string(choices::taken(world, request).how->name);
}

/// Started and planned calls, of buffers of which some lie in memory that the node shares.
void start_and_plan(weft::runtime& runtime, weft::communicator& world, collective what, int calls) {
  std::mt19937_64 random(seed_of_this_run()), own(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()) + 1);
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    c.what = what;
    const std::size_t longest[]{4, 300, 5000, 60'000};
    c.count = random() % longest[random() % 4];
    if (weft::schedules::has_blocks(what)) {
      c.count /= static_cast<std::size_t>(world.size());
      c.uneven = what != collective::alltoall && random() % 2 == 0;
    }
    draw_terms(c, world.size(), random);
    c.started = random() % 2 == 0;
    c.planned = !c.started;
    c.in_node = own() % 2 == 0 ? &runtime : nullptr;
    c.out_node = own() % 2 == 0 ? &runtime : nullptr;
    check_case(world, c);
  }
}

}  // namespace

TEST_CASE("ranks that read each other's memory get the serial result", "[reading]") {
  const std::string nodes = GENERATE("aa", "aaa", "aab", "abab", "aabbb", "abcddd");
  for (const algorithm* const by : reading_algorithms())
    run_with_runtime(on_nodes(nodes, *by), [&](weft::runtime& runtime, weft::communicator& world) {
      expect(emulated || taken(world, by->kind) == by->name, "the algorithm asked for");
      start_and_plan(runtime, world, by->kind, thorough() ? 12 : 4);
    });
}

TEST_CASE("nodes of more ranks than a combine has operands get the serial result", "[reading]") {
  for (const algorithm* const by : reading_algorithms())
    run_with_runtime(on_nodes(std::string(19, 'a'), *by), [&](weft::runtime& runtime, weft::communicator& world) {
      start_and_plan(runtime, world, by->kind, 4);
    });
}

TEST_CASE("elements longer than what is fetched at a time are combined", "[reading]") {
  struct row {
    std::array<double, 9000> values;
  };
  const algorithm& by = *weft::schedules::find_algorithm(collective::allreduce, "multi-leader");
  run_with_runtime(on_nodes("aaab", by), [](weft::runtime&, weft::communicator& world) {
    const auto add = weft::make_operator<row>(
        [](const row* in, row* inout, std::size_t n) {
          for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < inout[i].values.size(); ++k) inout[i].values[k] += in[i].values[k];
        },
        weft::commutes);
    std::vector<row> in(5), out(5);
    for (std::size_t i = 0; i < in.size(); ++i)
      for (std::size_t k = 0; k < in[i].values.size(); ++k)
        in[i].values[k] = static_cast<double>(k + i) * (world.rank() + 1);
    world.iallreduce(in, out, add).wait();
    const int ranks = world.size(), sum = ranks * (ranks + 1) / 2;
    for (std::size_t i = 0; i < out.size(); ++i)
      for (std::size_t k = 0; k < out[i].values.size(); ++k)
        expect(out[i].values[k] == static_cast<double>(k + i) * sum, "the sum of element ", i, ", value ", k);
  });
}

TEST_CASE("where processes share no memory, or host several ranks, another algorithm is taken", "[reading]") {
  for (const algorithm* const by : reading_algorithms()) {
    job apart = on_nodes("aaa", *by);
    apart.settings.node = false;
    job shared = on_nodes("aab", *by);
    shared.ranks_per_process = shared.settings.ranks_per_process = 2;
    for (const job& what : {apart, shared})
      run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
        expect(taken(world, by->kind) != by->name, "an algorithm of messages");
        start_and_plan(runtime, world, by->kind, 3);
      });
  }
}

TEST_CASE("what a rank leaves in its memory when its call has failed is nobody's result", "[reading]") {
  constexpr int calls = 20;
  constexpr std::size_t count = 8 << 20;  // so that it is rewritten while it is read
  const algorithm& by = *weft::schedules::find_algorithm(collective::broadcast, "reading");
  job what = on_nodes("aa", by);
  what.settings.segment = count * sizeof(int);  // in one step, during which the other hears of nothing
  run_with_runtime(what, [&](weft::runtime&, weft::communicator& world) {
    std::vector<int> values(count);
    for (int call = 1; call <= calls; ++call) {
      weft::communicator each = world.dup();
      std::ranges::fill(values, call);
      world.barrier();
      auto started = each.ibcast(values, 0);
      if (each.rank() == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(100 * call));  // the other is about to read, or does
        each.abort();
        std::ranges::fill(values, -1);
      }
      try {
        started.wait();
        expect(each.rank() == 0 || std::ranges::count(values, call) == static_cast<std::ptrdiff_t>(count),
               "what was broadcast in call ", call);
      } catch (const weft::error& failure) {
        expect(failure.code() == weft::errc::revoked, "revoked, not ", failure.what());
      }
    }
  });
}

TEST_CASE("where a rank's memory cannot be read, all are told", "[reading]") {
  if (emulated) return;  // where no process reads another's memory
  constexpr std::size_t bytes = 2 << 20, half = bytes / 2;
  for (const bool planned : {false, true}) {
    const algorithm& by = *weft::schedules::find_algorithm(collective::allreduce, "multi-leader");
    // There until both have ended: who fails first no longer waits for who still reads.
    void* const pages = mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    auto* const memory = static_cast<std::byte*>(pages);
    REQUIRE(mprotect(memory + half, half, PROT_NONE) == 0);  // what process 1 reads of process 0
    const auto failures = run_processes(on_nodes("aa", by), [&](int process, weft::runtime& runtime) {
      const std::span in(reinterpret_cast<const float*>(memory + static_cast<std::size_t>(process) * bytes),
                         bytes / sizeof(float));
      std::vector<float> out(in.size());
      auto& world = runtime.world();
      const auto call = [&] {
        if (!planned) {
          world.iallreduce(in, out, weft::sum).wait();
          return;
        }
        auto plan = world.plan_allreduce(in, out, weft::sum);
        plan.start();
        plan.wait();
      };
      try {
        call();
        expect(false, "an error");
      } catch (const weft::error& failure) {
        expect(failure.code() == weft::errc::operation_failed, "operation_failed, not ", failure.what());
        expect_text(failure.what(), "the memory of process 0 cannot be read: process_vm_readv: Bad address");
      }
    });
    munmap(pages, 2 * bytes);
    for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
  }
}
