// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <atomic>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <weft/api/choices.hpp>
#include <weft/process/membership.hpp>
#include <weft/runtime.hpp>

#include "measurement.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "workload.hpp"

namespace weft::tools {
namespace {

detail::membership join(const bench_settings& settings, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "weft");
  if (settings.algorithm != "auto") arguments.push_back("--weft-" + settings.collective + "=" + settings.algorithm);
  // Where its thread goes is the measurement's to say, which then asks for it.
  if (measures_progress(settings.collective)) arguments.push_back("--weft-progress=caller");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  return detail::join_by_environment(argc, argv.data());
}

/// A call of such a size.
detail::choice_request call_of(communicator& world, const bench_settings& settings, std::size_t bytes) {
  const auto kind = schedules::find_collective(settings.collective).value();
  std::size_t vector = count_of(settings, bytes) * kernels::size_of(settings.type);
  if (schedules::has_blocks(kind)) vector *= static_cast<std::size_t>(world.size());
  auto call = detail::choices::request(world, kind, vector, settings.op, settings.type);
  call.mapped = settings.arena;
  return call;
}

/// Makes calls of that size until what they take does not change any more.
void call_until_known(communicator& world, const bench_settings& settings, std::size_t bytes, runtime* arena) {
  if (!detail::choices::tunes_online(world)) return;
  const auto work = make_workload(world, settings, bytes, arena);
  work->prepare(bytes);
  for (std::uint32_t call = 0; call < detail::choices::calls_until_known; ++call) {
    world.barrier();
    work->call();
  }
}

/// Each size by every algorithm in turn; the one predicted to be the fastest is reported first.
std::int64_t sweep_algorithms(communicator& world, const bench_settings& settings, runtime* arena,
                              const std::function<void(const measurement&)>& report) {
  std::int64_t wrong = 0;
  const bool sized = settings.collective != "barrier";
  for (std::size_t bytes = sized ? settings.from : 0;; bytes *= settings.factor) {
    const auto call = call_of(world, settings, bytes);
    call_until_known(world, settings, bytes, arena);
    const auto* const chosen = detail::choices::way(world, call);
    const auto all = detail::choices::predicted(world, call);
    wrong += measure_ways(
        world, settings, bytes, arena, all.size(),
        [&](std::size_t way) { detail::choices::prefer(world, call.what, all[way].how); },
        [&](std::size_t way, measurement measured) {
          measured.algorithm = all[way].how->name;
          measured.predicted_us = all[way].seconds * 1e6;
          measured.chosen = all[way].how == chosen;
          report(measured);
        });
    detail::choices::prefer(world, call.what, nullptr);
    if (!sized || bytes > settings.to / settings.factor) return wrong;
  }
}

struct rank_program {
  const bench_settings& settings;
  const std::string& provider;
  const std::string progress;
  int ranks_here;
  const std::optional<progress_bench>& about_progress;
  runtime* arena;  ///< whose memory the buffers are in; null: each process's own

  std::int64_t operator()(communicator& world) const {
    if (settings.collective == "latency") return latency(world);
    if (sends_windows(settings.collective)) return windows(world);
    if (settings.collective == "idle") return idle(world);
    if (settings.collective == "agree") return agree(world);
    if (about_progress) return about_progress->run(world);
    if (settings.late.rank >= 0 && ranks_here > 1)
      throw std::runtime_error(std::string("weft bench: --late: ") + late_holds_up);
    if (settings.late.rank >= world.size())
      throw std::runtime_error("weft bench: --late: there is no rank " + std::to_string(settings.late.rank) + " of " +
                               std::to_string(world.size()));
    std::optional<bench_report> report;
    if (world.rank() == 0) report.emplace(settings, provider, world);
    if (settings.explain) {
      if (detail::choices::costs(world) == nullptr)
        throw std::runtime_error("weft bench: one rank sends nothing, so nothing is predicted: -n 2 or more");
      return sweep_algorithms(world, settings, arena, [&](const measurement& measured) { report->add(measured); });
    }
    return sweep(world, settings, arena, [&](measurement measured) {
      const auto call = call_of(world, settings, measured.bytes);
      measured.algorithm = detail::choices::name_of_way(world, call);
      if (const auto late = detail::choices::latest(world, call)) {
        measured.latest = late->first;
        measured.latest_us = late->second * 1e6;
      }
      report->add(measured);
    });
  }

  std::int64_t latency(communicator& world) const {
    if (world.size() < 2) throw std::runtime_error("weft bench latency: at least 2 ranks are needed (-n 2)");
    if (settings.one_way) {
      std::optional<bench_report> report;
      if (world.rank() == 0) report.emplace(settings, provider, world);
      return measure_one_way(world, settings, [&](const measurement& measured) { report->add(measured); });
    }
    const latencies measured = measure_latency(world, settings.budget);
    if (world.rank() == 0)
      bench_report(settings, provider, world).add_latency(measured.idle, measured.loaded, stream_bytes);
    return measured.idle.wrong + measured.loaded.wrong;
  }

  std::int64_t windows(communicator& world) const {
    const std::string refusal = refuse_pairs(settings, world.size());
    if (!refusal.empty()) throw std::runtime_error("weft bench: " + refusal);
    std::optional<bench_report> report;
    if (world.rank() == 0) report.emplace(settings, provider, world);
    return measure_windows(world, settings, [&](const measurement& measured) { report->add(measured); });
  }

  std::int64_t agree(communicator& world) const {
    const agreement_times measured = measure_agreement(world, settings.budget);
    if (world.rank() == 0) bench_report(settings, provider, world).add_agreement(measured);
    return measured.barrier.wrong + measured.agree.wrong + measured.shrink.wrong;
  }

  std::int64_t idle(communicator& world) const {
    if (world.size() <= ranks_here)
      throw std::runtime_error("weft bench idle: ranks in at least 2 processes are needed (-n 2)");
    const idle_costs measured = measure_idle(world, settings.budget);
    if (world.rank() == 0) bench_report(settings, provider, world).add_idle(measured, progress);
    return 0;
  }
};

}  // namespace

int run_bench_worker(const bench_settings& settings, const std::vector<std::string>& weft_arguments) {
  detail::membership member = join(settings, weft_arguments);
  if (settings.explain && member.settings.tune == "off") member.settings.tune = "start";
  const std::string provider = member.named_provider();
  const int ranks = member.ranks;
  const std::string progress = member.settings.progress == progress_mode::thread ? "thread" : "caller";
  std::optional<progress_bench> about_progress;
  if (measures_progress(settings.collective)) about_progress.emplace(settings, member);
  std::atomic<std::int64_t> wrong = 0;
  {
    runtime job(std::move(member));
    const rank_program program{settings, provider, progress, ranks, about_progress, settings.arena ? &job : nullptr};
    if (ranks == 1)
      wrong = program(job.world());
    else
      job.run([&](communicator& world) { wrong += program(world); });
  }
  if (wrong == 0) return 0;
  std::fprintf(stderr, "weft bench: wrong results (column or field \"wrong\")\n");
  return 1;
}

}  // namespace weft::tools
