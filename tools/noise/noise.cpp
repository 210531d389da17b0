// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/noise/interference.hpp>
#include <weft/simulator/noise_trace.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/noise.hpp>

namespace weft::tools {
namespace {

using topology::cpu_noise;

struct command_line {
  std::string cpus, made, recorded;
  std::int64_t milliseconds = 1000, quantum = 10, least_detour = 1;
  bool json = false;
};

void print_text(const std::vector<cpu_noise>& measured) {
  std::printf("%5s %10s %12s %12s %12s %12s %9s\n", "cpu", "quanta", "quantum", "detours/s", "mean", "longest", "lost");
  for (const cpu_noise& each : measured)
    std::printf("%5d %10lld %9.2f us %12.1f %9.2f us %9.2f us %7.3f %%\n", each.cpu,
                static_cast<long long>(each.quanta), 1e6 * each.quantum, each.detours_per_second(),
                1e6 * each.mean_detour(), 1e6 * each.longest, 100 * each.share_lost());
  std::printf("quietest: cpu %d\n", topology::quietest(measured).cpu);
}

void print_json(const std::vector<cpu_noise>& measured) {
  nlohmann::ordered_json cpus = nlohmann::ordered_json::array();
  for (const cpu_noise& each : measured)
    cpus.push_back({{"cpu", each.cpu},
                    {"quanta", each.quanta},
                    {"quantum_us", 1e6 * each.quantum},
                    {"seconds", each.measured},
                    {"detours", each.detours},
                    {"detours_per_s", each.detours_per_second()},
                    {"mean_detour_us", 1e6 * each.mean_detour()},
                    {"longest_detour_us", 1e6 * each.longest},
                    {"share_lost", each.share_lost()}});
  const nlohmann::ordered_json object = {{"cpus", cpus}, {"quietest", topology::quietest(measured).cpu}};
  std::puts(object.dump().c_str());
}

/// The detours of one cpu after another, as if all had been of one.
simulator::noise_trace trace_of(const std::vector<cpu_noise>& measured) {
  simulator::noise_trace trace;
  for (const cpu_noise& cpu : measured) {
    for (const topology::cpu_detour& each : cpu.all_detours)
      trace.detours.push_back({trace.length + static_cast<double>(each.begin), static_cast<double>(each.duration)});
    trace.length = std::round(trace.length + 1e9 * cpu.measured);
  }
  return trace;
}

void record(const std::vector<cpu_noise>& measured, const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  out << "# weft noise: begin and duration of each detour, ns\n"
      << simulator::to_text(trace_of(measured)) << std::flush;
  if (!out) throw CLI::ValidationError("--record", file + " cannot be written: " + std::strerror(errno));
}

void noise(const command_line& line) {
  const auto allowed = topology::this_thread_binding();
  const auto cpus = line.cpus.empty() ? allowed : topology::cpu_set::parse(line.cpus);
  if (!allowed.includes(cpus))
    throw CLI::ValidationError(
        "--cpus", to_string(cpus) + " are not all among the cpus that this process was given, " + to_string(allowed));
  if (!line.made.empty() && !line.recorded.empty())
    throw CLI::ValidationError("--record", "noise is measured or made: not with --make");
  if (!line.made.empty()) {
    const interference while_it_lives(cpus, parse_noise(line.made));
    std::printf("noise on cpus %s\n", to_string(cpus).c_str());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(line.milliseconds));
    return;
  }
  const auto measured = topology::measure_noise(
      cpus, {std::chrono::milliseconds(line.milliseconds), std::chrono::microseconds(line.quantum),
             std::chrono::microseconds(line.least_detour)});
  if (!line.recorded.empty()) record(measured, line.recorded);
  line.json ? print_json(measured) : print_text(measured);
}

}  // namespace

void add_noise(CLI::App& weft) {
  CLI::App* const app = weft.add_subcommand("noise", "Measure what the system takes of each processor");
  app->footer(
      "The same piece of work is done again and again on one cpu after another. What takes longer than the shortest "
      "by\n"
      "--least-detour was interrupted: a detour. Whatever else runs on the machine counts as noise.");
  const auto line = std::make_shared<command_line>();
  const auto number = [&](const char* name, std::int64_t& value, const char* meaning, const char* unit) {
    app->add_option(name, value, meaning)->check(whole_number(1, 100'000'000))->type_name(unit);
  };
  app->add_option("--cpus", line->cpus, "Which, such as 0-3,8 [all that this process was given]")->type_name("LIST");
  number("--duration", line->milliseconds, "Of the measurement of a cpu, or of the noise that is made [1000]", "MS");
  number("--quantum", line->quantum, "What a piece of work takes [10]", "US");
  number("--least-detour", line->least_detour, "What counts as one [1]", "US");
  app->add_option("--make", line->made, "Instead of measuring: take the cpus for DURATION each PERIOD, by SCHED_FIFO")
      ->check([](const std::string& text) {
        try {
          parse_noise(text);
        } catch (const std::invalid_argument& failure) {
          return std::string(failure.what());
        }
        return std::string();
      })
      ->type_name("PERIOD_US:DURATION_US");
  app->add_option("--record", line->recorded,
                  "Write the detours into a file, too, of one cpu after another: for `weft sim --noise` and LogGOPSim")
      ->type_name("FILE");
  app->add_flag("--json", line->json, "Print one JSON object");
  app->callback([line] { noise(*line); });
}

}  // namespace weft::tools
