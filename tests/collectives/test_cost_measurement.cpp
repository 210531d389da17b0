// SPDX-License-Identifier: Apache-2.0
// Measuring when a job starts, and choosing by what was measured.
#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <weft/api/choices.hpp>
#include <weft/choice/cost_measurement.hpp>

#include "catch.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"

using namespace weft_test;
using namespace weft::detail;
using weft::schedules::road;

namespace {

job measuring(int processes, int ranks_per_process) {
  job what;
  what.processes = processes;
  what.ranks_per_process = ranks_per_process;
  what.settings.tune = "start";
  what.settings.tune_budget = std::chrono::milliseconds(4);
  return what;
}

}  // namespace

TEST_CASE("all ranks hold the same costs, of the roads that the job has") {
  for (const auto& [processes, each] : {std::pair{2, 1}, {3, 2}, {4, 1}, {1, 2}}) {
    std::mutex guard;
    std::set<std::string> texts;
    run_ranks(measuring(processes, each), [&, several = processes > 1, hosts = each > 1](weft::communicator& world) {
      const tuning* const measured = choices::costs(world);
      expect(measured != nullptr, "costs");
      expect(measured->machine[road::node].has_value() == several, "between processes");
      expect(measured->machine[road::memory].has_value() == hosts, "within a process");
      expect(!measured->machine[road::fabric].has_value(), "no other node");
      for (const auto& costs : measured->machine.by_road)
        if (costs) expect(costs->latency + costs->overhead > 0 && costs->gap >= costs->overhead, "times");
      expect(combine_seconds(*measured, weft::kernels::operation::product, weft::kernels::type::float64) > 0,
             "kernels");
      const std::lock_guard lock(guard);
      texts.insert(to_text(*measured));
    });
    CAPTURE(processes, each);
    CHECK(texts.size() == 1);
  }
}

TEST_CASE("a rank alone measures nothing, and neither does a job that is told not to") {
  run_ranks(measuring(1, 1), [](weft::communicator& world) { expect(choices::costs(world) == nullptr, "no costs"); });
  job off = measuring(2, 1);
  off.settings.tune = "off";
  run_ranks(off, [](weft::communicator& world) { expect(choices::costs(world) == nullptr, "no costs"); });
}

TEST_CASE("a job that measured combines rightly, by the same algorithm on every rank") {
  std::mutex guard;
  std::set<std::string> taken;
  run_ranks(measuring(3, 1), [&](weft::communicator& world) {
    for (const std::size_t count : {1, 1000, 100'000}) {
      std::vector<double> values(count, world.rank() + 1);
      world.allreduce(values, values, weft::sum);
      for (const double value : values) expect(value == 6, "1 + 2 + 3, not ", value);
      const auto of = choices::request(world, collective::allreduce, count * sizeof(double),
                                       weft::kernels::operation::sum, weft::kernels::type::float64);
      const auto all = choices::predicted(world, of);
      const auto by_messages = [](const weft::schedules::algorithm& how) {
        return how.pattern == weft::schedules::memory_pattern::none;
      };
      const auto may_be_chosen = std::ranges::count_if(
          weft::schedules::algorithms_of(collective::allreduce),
          [&](const auto& how) { return by_messages(how) && weft::schedules::may_be_chosen(how, {}); });
      // An emulator lets no process read another's memory, by which one of them goes.
      expect(std::ranges::count_if(all, [&](const auto& each) { return by_messages(*each.how); }) ==
                 may_be_chosen - (emulated ? 1 : 0),
             "every algorithm by messages that may be chosen");
      const auto chosen = choices::taken(world, of);
      const std::lock_guard lock(guard);
      taken.insert(std::to_string(count) + " " + std::string(chosen.how->name) + " " + std::to_string(chosen.segments));
    }
  });
  CHECK(taken.size() == 3);
}

TEST_CASE("parts combine to medians, whatever each of them measured") {
  std::vector<tuning> parts(4);
  parts[0].machine[road::node] = {1, 5, 1, 1, 1, 1};
  parts[1].machine[road::node] = {3, 4, 1, 1, 1, 1};
  parts[2].machine[road::node] = {2, 6, 1, 1, 1, 1};
  parts[3].machine[road::fabric] = {9, 9, 9, 9, 9, 9};
  const std::pair sum{weft::kernels::operation::sum, weft::kernels::type::float32};
  parts[0].combine[sum] = 7;
  const tuning all = combined(parts);
  CHECK(all.machine[road::node]->latency == 2);
  CHECK(all.machine[road::node]->overhead == 5);
  CHECK(all.machine[road::fabric]->latency == 9);
  CHECK_FALSE(all.machine[road::memory].has_value());
  CHECK(all.combine.at(sum) == 7);
  CHECK(combined({}).combine.empty());
}
