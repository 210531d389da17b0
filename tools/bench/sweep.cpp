// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
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

rank_samples take_samples(communicator& world, workload& work, const bench_settings& settings, std::size_t bytes) {
  std::uint64_t seed = bytes << 20;  // every sample has one of its own
  rank_samples mine;
  work.prepare(seed);
  mine.seconds.resize(count_samples(settings.budget, estimate(world, work, settings)));
  for (double& sample : mine.seconds) {
    if (settings.check) work.prepare(++seed);
    sample = time_call(world, work, settings);
    if (settings.check) mine.wrong += work.count_wrong(seed);
  }
  if (!settings.check) {
    work.prepare(++seed);
    work.call();
    mine.wrong = work.count_wrong(seed);
  }
  return mine;
}

}  // namespace

std::int64_t sweep(communicator& world, const bench_settings& settings, runtime* arena,
                   const std::function<void(const measurement&)>& report) {
  std::int64_t all_wrong = 0;
  const bool sized = settings.collective != "barrier";
  for (std::size_t bytes = sized ? settings.from : 0;; bytes *= settings.factor) {
    const auto work = make_workload(world, settings, bytes, arena);
    if (settings.persistent) work->persist();
    if (settings.started) work->start();
    const rank_samples mine = take_samples(world, *work, settings, bytes);
    std::vector<double> slowest(world.rank() == 0 ? mine.seconds.size() : 0);
    world.reduce(mine.seconds, slowest, max, 0);
    std::array wrong{mine.wrong};
    world.allreduce(wrong, wrong, sum);
    all_wrong += wrong[0];
    if (world.rank() == 0) {
      measurement result = summarize(std::move(slowest));
      result.bytes = bytes;
      result.wrong = wrong[0];
      report(result);
    }
    if (!sized || bytes > settings.to / settings.factor) return all_wrong;
  }
}

}  // namespace weft::tools
