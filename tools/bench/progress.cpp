// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <array>
#include <cstdio>
#include <weft/api/choices.hpp>
#include <weft/topology/affinity.hpp>

#include "consistency.hpp"
#include "overlap.hpp"
#include "report.hpp"

namespace weft::tools {
namespace {

std::string json_of(const overlap_measurement& m) {
  return ", \"bytes\": " + std::to_string(m.bytes) + ", \"samples\": " + std::to_string(m.samples) +
         fixed(", \"overall_us\": %.3f", m.overall_us) + fixed(", \"compute_us\": %.3f", m.compute_us) +
         fixed(", \"communication_us\": %.3f", m.communication_us) + fixed(", \"overlap_percent\": %.2f", m.percent) +
         fixed(", \"thread_us\": %.3f", m.thread_us) + ", \"wrong\": " + std::to_string(m.wrong) + "}";
}

std::string json_of(const time_statistics& s) {
  return "{\"samples\": " + std::to_string(s.samples) + fixed(", \"mean_us\": %.3f", s.mean) +
         fixed(", \"deviation_us\": %.3f", s.deviation) + fixed(", \"mode_us\": %.1f", s.mode) +
         fixed(", \"near_mode\": %.4f", s.near_mode) + fixed(", \"p50_us\": %.3f", s.p50) +
         fixed(", \"p99_us\": %.3f", s.p99) + fixed(", \"max_us\": %.3f}", s.max);
}

std::string json_of(const consistency_figure& figure) {
  return "{\"all\": " + json_of(figure.all) + ", \"without_highest\": " + json_of(figure.trimmed) + "}";
}

void print_row(const char* what, const char* which, const time_statistics& s) {
  std::printf("%-10s %-14s %8zu %10.1f %10.1f %9.1f %% %10.1f %10.1f %10.1f\n", what, which, s.samples, s.mean,
              s.deviation, 100 * s.near_mode, s.p50, s.p99, s.max);
}

void print_rows(const char* what, const consistency_figure& figure) {
  print_row(what, "all", figure.all);
  print_row(what, "but highest 1%", figure.trimmed);
}

}  // namespace

bool measures_progress(const std::string& collective) { return collective == "overlap" || collective == "consistency"; }

progress_bench::progress_bench(const bench_settings& settings, detail::membership& member)
    : settings_(settings),
      provider_(member.named_provider()),
      threaded_(settings.progress == progress_mode::thread),
      processes_(member.rendezvous->processes()),
      layout_(lay_out(member.rendezvous->process(), processes_)) {
  topology::bind_this_thread(layout_.ranks);
  member.settings.progress = settings.progress;
  if (threaded_) member.progress_cpus = layout_.progress;
  if (settings_.noise.period.count() != 0 && member.rendezvous->process() == 0)
    noise_.emplace(layout_.all_ranks, settings_.noise);
}

std::int64_t progress_bench::run(communicator& world) const {
  return settings_.collective == "overlap" ? overlap(world) : consistency(world);
}

std::string progress_bench::heading(int ranks) const {
  std::string noise = "no noise";
  if (settings_.noise.period.count() != 0)
    noise = "noise of " + std::to_string(settings_.noise.duration.count()) + " us each " +
            std::to_string(settings_.noise.period.count()) + " us on cpus " + to_string(layout_.all_ranks);
  return settings_.collective + ", " + provider_ + ", " + std::to_string(ranks) + " ranks in " +
         std::to_string(processes_) + " processes, progress by " + (threaded_ ? "thread" : "caller") + ", " + noise +
         "\n" + layout_.described;
}

std::string progress_bench::json_heading(communicator& world) const {
  return "{\"peer\": \"weft-" + provider_ + "\", \"road\": \"" + detail::choices::road(world) + "\", \"measured\": \"" +
         settings_.collective + "\", \"ranks\": " + std::to_string(world.size()) +
         ", \"processes\": " + std::to_string(processes_) + ", \"progress\": \"" + (threaded_ ? "thread" : "caller") +
         "\", \"layout\": \"" + layout_.described +
         "\", \"noise_period_us\": " + std::to_string(settings_.noise.period.count()) +
         ", \"noise_duration_us\": " + std::to_string(settings_.noise.duration.count());
}

std::int64_t progress_bench::overlap(communicator& world) const {
  if (world.rank() == 0 && !settings_.json) {
    print_line(heading(world.size()));
    std::printf("%12s %8s %12s %12s %16s %10s %14s %8s\n", "bytes", "samples", "overall us", "compute us",
                "communication us", "overlap %", "thread cpu us", "wrong");
  }
  return measure_overlap(world, settings_, [&](const overlap_measurement& m) {
    if (settings_.json) return print_line(json_heading(world) + json_of(m));
    std::printf("%12zu %8zu %12.1f %12.1f %16.1f %10.1f %14.1f %8lld\n", m.bytes, m.samples, m.overall_us, m.compute_us,
                m.communication_us, m.percent, m.thread_us, static_cast<long long>(m.wrong));
    std::fflush(stdout);
  });
}

std::int64_t progress_bench::consistency(communicator& world) const {
  const consistency_measurement measured = measure_consistency(world, settings_.budget);
  if (world.rank() != 0) return measured.wrong;
  if (settings_.json) {
    print_line(json_heading(world) + ", \"completed\": " + json_of(measured.completed) + ", \"returned\": " +
               json_of(measured.returned) + ", \"wrong\": " + std::to_string(measured.wrong) + "}");
    return measured.wrong;
  }
  print_line(heading(world.size()));
  std::printf("%-10s %-14s %8s %10s %10s %11s %10s %10s %10s\n", "us", "samples", "", "mean", "deviation", "near mode",
              "p50", "p99", "max");
  print_rows("completed", measured.completed);
  print_rows("returned", measured.returned);
  std::fflush(stdout);
  return measured.wrong;
}

}  // namespace weft::tools
