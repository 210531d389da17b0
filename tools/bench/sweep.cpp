// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "measurement.hpp"
#include "workload.hpp"

namespace weft::tools {
namespace {

/// What one size gave on this rank.
struct rank_samples {
  std::vector<double> seconds;
  std::int64_t wrong = 0;
};

/// Whether a call is over when this rank has ended.
bool ends_here(const communicator& world, const bench_settings& settings) {
  const bool to_root = settings.collective == "reduce" || settings.collective == "gather";
  return !to_root || world.rank() == 0;
}

/// A call behind a barrier: its time on this rank, or, where a rank is late, since that has called; 0 where the call
/// ends elsewhere.
double time_call(communicator& world, workload& work, const bench_settings& settings) {
  world.barrier();
  if (world.rank() == settings.late.rank) std::this_thread::sleep_for(settings.late.by);
  const double start = seconds_now();
  work.call();
  const double end = seconds_now();
  if (settings.late.rank < 0) return end - start;
  std::vector<double> starts(static_cast<std::size_t>(world.size()));
  world.allgather(std::array{start}, starts);
  return ends_here(world, settings) ? end - *std::ranges::max_element(starts) : 0;
}

/// The time of a call, the same on every rank.
double estimate(communicator& world, workload& work, const bench_settings& settings) {
  constexpr int warm_up = 10, calls = 5;
  if (settings.late.rank >= 0) {
    for (int i = 0; i < warm_up; ++i) time_call(world, work, settings);
    return std::chrono::duration<double>(settings.late.by).count();
  }
  for (int i = 0; i < warm_up; ++i) work.call();
  world.barrier();
  const double start = seconds_now();
  for (int i = 0; i < calls; ++i) work.call();
  std::array once{(seconds_now() - start) / calls};
  world.allreduce(once, once, max);
  return once[0];
}

/// Calls of one size that go by several ways, turn after turn, so that what the machine does meanwhile meets all alike.
class calls_in_turn {
 public:
  calls_in_turn(communicator& world, const bench_settings& settings, std::size_t bytes, runtime* arena,
                std::size_t ways, const std::function<void(std::size_t)>& take)
      : world_(world),
        settings_(settings),
        work_(make_workload(world, settings, bytes, arena)),
        seed_(bytes << 20),
        samples_(ways),
        take_(take) {
    if (settings.started) work_->start();
  }

  /// Of this rank, by way.
  std::vector<rank_samples> take_samples() {
    std::vector<std::size_t> counts(samples_.size());
    for (std::size_t way = 0; way < counts.size(); ++way) {
      go_by(way);
      work_->prepare(seed_);
      counts[way] = count_samples(settings_.budget, estimate(world_, *work_, settings_));
    }
    const std::size_t turns = samples_.size() > 1 ? 10 : 1;
    for (std::size_t turn = 0; turn < turns; ++turn) {
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        const std::size_t way = turn % 2 == 0 ? i : samples_.size() - 1 - i;
        take_turn(way, counts[way] / turns);
      }
    }
    for (std::size_t way = 0; way < samples_.size() && !settings_.check; ++way) check_once(way);
    return std::move(samples_);
  }

 private:
  void go_by(std::size_t way) {
    take_(way);
    if (settings_.persistent) work_->persist();
  }

  void take_turn(std::size_t way, std::size_t count) {
    if (samples_.size() > 1) {  // what was done before counts for none
      go_by(way);
      work_->call();
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (settings_.check) work_->prepare(++seed_);
      samples_[way].seconds.push_back(time_call(world_, *work_, settings_));
      if (settings_.check) samples_[way].wrong += work_->count_wrong(seed_);
    }
  }

  void check_once(std::size_t way) {
    if (samples_.size() > 1) go_by(way);
    work_->prepare(++seed_);
    work_->call();
    samples_[way].wrong = work_->count_wrong(seed_);
  }

  communicator& world_;
  const bench_settings& settings_;
  std::unique_ptr<workload> work_;
  std::uint64_t seed_;  // every checked sample has one of its own
  std::vector<rank_samples> samples_;
  const std::function<void(std::size_t)>& take_;
};

}  // namespace

std::int64_t measure_ways(communicator& world, const bench_settings& settings, std::size_t bytes, runtime* arena,
                          std::size_t ways, const std::function<void(std::size_t)>& take,
                          const std::function<void(std::size_t, const measurement&)>& report) {
  const auto mine = calls_in_turn(world, settings, bytes, arena, ways, take).take_samples();
  std::int64_t all_wrong = 0;
  for (std::size_t way = 0; way < ways; ++way) {
    std::vector<double> slowest(world.rank() == 0 ? mine[way].seconds.size() : 0);
    world.reduce(mine[way].seconds, slowest, max, 0);
    std::array wrong{mine[way].wrong};
    world.allreduce(wrong, wrong, sum);
    all_wrong += wrong[0];
    if (world.rank() != 0) continue;
    measurement result = summarize(std::move(slowest));
    result.bytes = bytes;
    result.wrong = wrong[0];
    report(way, result);
  }
  return all_wrong;
}

std::int64_t sweep(communicator& world, const bench_settings& settings, runtime* arena,
                   const std::function<void(const measurement&)>& report) {
  std::int64_t wrong = 0;
  const bool sized = settings.collective != "barrier";
  for (std::size_t bytes = sized ? settings.from : 0;; bytes *= settings.factor) {
    wrong += measure_ways(
        world, settings, bytes, arena, 1, [](std::size_t) {},
        [&](std::size_t, const measurement& measured) { report(measured); });
    if (!sized || bytes > settings.to / settings.factor) return wrong;
  }
}

}  // namespace weft::tools
