// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <array>
#include <cstdio>
#include <weft/api/choices.hpp>
#include <weft/schedules/collective.hpp>

#include "csv.hpp"

namespace weft::tools {
void print_line(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

std::string fixed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

bench_report::bench_report(const bench_settings& settings, std::string provider, communicator& world)
    : settings_(settings), provider_(std::move(provider)), road_(detail::choices::road(world)), ranks_(world.size()) {
  if (settings_.json) return;
  std::printf("%s, %s", settings_.collective.c_str(), provider_.c_str());
  std::printf(", %d rank%s", ranks_, ranks_ == 1 ? "" : "s");
  const auto kind = schedules::find_collective(settings_.collective);
  const bool reduces = kind && schedules::combines(*kind);
  if (kind && kind != schedules::collective::barrier)
    std::printf(", %s", std::string(kernels::name(settings_.type)).c_str());
  if (reduces) std::printf(", %s", std::string(kernels::name(settings_.op)).c_str());
  if (sends_windows(settings_.collective))
    std::printf(", %d pair%s, windows of %zu", settings_.pairs, settings_.pairs == 1 ? "" : "s", settings_.window);
  if (settings_.unmatched > 0) std::printf(", %zu receives unmatched", settings_.unmatched);
  if (settings_.arena) std::printf(", buffers in the arena");
  if (settings_.persistent) std::printf(", planned");
  if (settings_.started) std::printf(", started");
  if (settings_.late.rank >= 0)
    std::printf(", rank %d late by %lld us: since its call", settings_.late.rank,
                static_cast<long long>(settings_.late.by.count()));
  std::printf("%s\n", settings_.check ? ", every sample checked" : "");
  if (settings_.collective == "idle") return;
  std::printf("%12s  %-21s %8s %12s %12s %12s %8s%s%s%s\n", "bytes", "algorithm", "samples", "min us", "median us",
              "p99 us", "wrong", settings_.explain ? " predicted us" : "",
              settings_.one_way || sends_windows(settings_.collective) ? "         MB/s" : "",
              sends_windows(settings_.collective) ? "   messages/s" : "");
  std::fflush(stdout);
}

/// Nothing in it needs escaping: the names are weft's own.
std::string bench_report::json(const measurement& m) const {
  return "{\"peer\": \"weft-" + provider_ + "\", \"collective\": \"" + settings_.collective +
         "\", \"ranks\": " + std::to_string(ranks_) + ", \"bytes\": " + std::to_string(m.bytes) +
         ", \"samples\": " + std::to_string(m.samples) + fixed(", \"min_us\": %.3f", m.min_us) +
         fixed(", \"median_us\": %.3f", m.median_us) + fixed(", \"p99_us\": %.3f", m.p99_us) + ", \"algorithm\": \"" +
         m.algorithm + "\", \"provider\": \"" + provider_ + "\", \"road\": \"" + road_ +
         "\", \"wrong\": " + std::to_string(m.wrong) + (settings_.arena ? ", \"buffers\": \"arena\"" : "") +
         (settings_.persistent ? ", \"persistent\": true" : ", \"persistent\": false") +
         (settings_.started ? ", \"started\": true" : "") +
         (settings_.late.rank >= 0 ? ", \"late_rank\": " + std::to_string(settings_.late.rank) +
                                         ", \"late_us\": " + std::to_string(settings_.late.by.count())
                                   : "") +
         (m.predicted_us ? fixed(", \"predicted_us\": %.3f", *m.predicted_us) +
                               (m.chosen ? ", \"chosen\": true" : ", \"chosen\": false")
                         : "") +
         (m.latest ? ", \"latest_rank\": " + std::to_string(*m.latest) + fixed(", \"latest_us\": %.1f", m.latest_us)
                   : "") +
         (m.bytes_per_s ? fixed(", \"bytes_per_s\": %.0f", *m.bytes_per_s) : "") +
         (m.messages_per_s ? fixed(", \"messages_per_s\": %.0f", *m.messages_per_s) + json_of_windows() : "");
}

std::string bench_report::json_of_windows() const {
  return ", \"window\": " + std::to_string(settings_.window) + ", \"pairs\": " + std::to_string(settings_.pairs) +
         ", \"unmatched\": " + std::to_string(settings_.unmatched);
}

void bench_report::print(const std::string& object) {
  if (!settings_.csv) return print_line(object);
  const csv_row row = csv_of(object);
  if (row.names != csv_names_) print_line(csv_names_ = row.names);
  print_line(row.values);
}

void bench_report::add(const measurement& m) {
  if (settings_.json) return print(json(m) + "}");
  std::printf("%12zu  %-21s %8zu %12.3f %12.3f %12.3f %8lld", m.bytes, m.algorithm.c_str(), m.samples, m.min_us,
              m.median_us, m.p99_us, static_cast<long long>(m.wrong));
  if (m.predicted_us) std::printf(" %12.3f%s", *m.predicted_us, m.chosen ? "  chosen" : "");
  if (m.latest) std::printf("  rank %d found %.0f us late", *m.latest, m.latest_us);
  if (m.bytes_per_s) std::printf(" %12.1f", *m.bytes_per_s * 1e-6);
  if (m.messages_per_s) std::printf(" %12.0f", *m.messages_per_s);
  std::printf("\n");
  std::fflush(stdout);
}

void bench_report::add_latency(const measurement& idle, const measurement& loaded, std::size_t stream_bytes) {
  const double median_ratio = loaded.median_us / idle.median_us, p99_ratio = loaded.p99_us / idle.p99_us;
  if (settings_.json) {
    print_line(json(idle) + ", \"stream_bytes\": 0}");
    return print_line(json(loaded) + ", \"stream_bytes\": " + std::to_string(stream_bytes) +
                      fixed(", \"median_ratio\": %.3f", median_ratio) + fixed(", \"p99_ratio\": %.3f}", p99_ratio));
  }
  add(idle);
  add(loaded);
  std::printf("under a stream of %zu MiB, the median is %.2f times the idle one, the p99 %.2f times\n",
              stream_bytes >> 20, median_ratio, p99_ratio);
}

void bench_report::add_agreement(const agreement_times& measured) {
  const auto add_as = [&](const char* call, measurement its) {
    its.algorithm = call;
    add(its);
  };
  add_as("barrier", measured.barrier);
  add_as("agree", measured.agree);
  add_as("shrink", measured.shrink);
}

std::string bench_report::json(const idleness& measured, const char* what) const {
  return std::string(", \"") + what + fixed("_share\": %.6f", measured.share) + ", \"" + what +
         fixed("_wake_ups_per_s\": %.1f", measured.wake_ups);
}

void bench_report::add_idle(const idle_costs& costs, const std::string& progress) const {
  if (settings_.json)
    return print_line(json(costs.first) + json(costs.alone, "idle") + json(costs.waiting, "waiting") +
                      fixed(", \"awake_median_us\": %.3f", costs.awake.median_us) + ", \"progress\": \"" + progress +
                      "\"}");
  std::printf("progress by %s; the busiest process, all its threads:\n", progress.c_str());
  std::printf("  nothing to do            %7.3f %% of a core, %6.1f wake-ups a second\n", costs.alone.share * 100,
              costs.alone.wake_ups);
  std::printf("  waiting in a barrier     %7.3f %% of a core, %6.1f wake-ups a second\n", costs.waiting.share * 100,
              costs.waiting.wake_ups);
  std::printf("16 bytes to a sleeping process: median %.1f us, p99 %.1f us; awake %.1f us\n", costs.first.median_us,
              costs.first.p99_us, costs.awake.median_us);
  std::fflush(stdout);
}

}  // namespace weft::tools
