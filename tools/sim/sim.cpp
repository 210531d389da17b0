// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/algorithms/shape_options.hpp>
#include <weft/algorithms/vector_size.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/sim/workload.hpp>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/loggopsim.hpp>
#include <weft/simulator/noise_trace.hpp>
#include <weft/simulator/timeline.hpp>

#include "network.hpp"
#include "report.hpp"
#include "tuning.hpp"

namespace weft::tools {
namespace {

/// Beyond so many steps the critical path is not searched: that takes 8 bytes a step.
constexpr std::uint64_t most_steps_searched = 1 << 24;

struct command_line {
  shape_options shaped;
  sim_job job;
  std::string collective, algorithm;  ///< as they are spelled
  vector_size size;
  simulator::machine_model model;
  std::string ports = "pipelined", noise, goal, svg, model_name = "weft";
  network_options network;
  tuned_model tuned;
  bool json = false;
  std::vector<CLI::Option*> of_collective;  ///< what does not go with --goal
  std::vector<CLI::Option*> of_weft;        ///< what LogGOPSim's model does not have
};

constexpr std::size_t drawn_detours = 1 << 16;

constexpr const char* right_noise =
    " is not PERIOD:DURATION with a duration less than the period, followed by :random, :coscheduled, :exponential or "
    "nothing, nor a file of a noise trace, followed by :coscheduled or nothing";

std::string text_of(const std::string& file, const char* option) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw CLI::ValidationError(option, file + " cannot be read");
  return text.str();
}

using simulator::noise_model;

/// PERIOD:DURATION and what may follow. Leaves what is something else.
bool read_periods(const std::string& text, noise_model& noise) {
  const std::vector<std::string> parts = CLI::detail::split(text, ':');
  if (parts.size() < 2 || !parse(parts[0], noise.period) || !parse(parts[1], noise.duration)) return false;
  const std::string how = parts.size() == 2 ? "random" : parts[2];
  if (parts.size() > 3 || (how != "random" && how != "coscheduled" && how != "exponential") ||
      !(noise.duration >= 0 && noise.duration < noise.period))
    throw CLI::ValidationError("--noise", "\"" + text + "\"" + right_noise);
  if (how == "coscheduled") noise.phases = noise_model::phase::coscheduled;
  if (how == "exponential")
    noise.trace = std::make_shared<const simulator::noise_trace>(
        simulator::exponential_noise(noise.period, noise.duration, drawn_detours, noise.seed));
  return true;
}

void read_noise(const std::string& text, noise_model& noise) {
  if (read_periods(text, noise)) return;
  noise.period = noise.duration = 0;
  std::string file = text;
  constexpr std::string_view together = ":coscheduled";
  if (file.ends_with(together)) {
    file.resize(file.size() - together.size());
    noise.phases = noise_model::phase::coscheduled;
  }
  if (!std::ifstream(file)) throw CLI::ValidationError("--noise", "\"" + text + "\"" + right_noise);
  try {
    noise.trace =
        std::make_shared<const simulator::noise_trace>(simulator::parse_noise_trace(text_of(file, "--noise")));
  } catch (const std::invalid_argument& failure) {
    throw CLI::ValidationError("--noise", file + ": " + failure.what());
  }
}

void find_names(command_line& line) {
  try {
    line.job.how = &algorithm_named(collective_named(line.collective), line.algorithm);
  } catch (const std::invalid_argument& failure) {
    throw CLI::ValidationError("COLLECTIVE, --algorithm", failure.what());
  }
}

/// Checks what no option alone can know.
void finish(command_line& line) {
  using simulator::port_model;
  line.model.ports = line.ports == "one"    ? port_model::one
                     : line.ports == "many" ? port_model::many
                                            : port_model::pipelined;
  if (!line.noise.empty()) read_noise(line.noise, line.model.noise);
  take_measured(line.tuned, line.model);
  if (line.model_name == "loggopsim")
    for (const CLI::Option* option : line.of_weft)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "LogGOPSim has no such thing: not with --model loggopsim");
  check_network(line.network, line.model.gap_per_byte);
  if (!line.goal.empty()) {
    for (const CLI::Option* option : line.of_collective)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "a GOAL file says that itself: not with --goal");
    return;
  }
  if (line.collective.empty()) throw CLI::RequiredError("COLLECTIVE or --goal FILE");
  if (line.shaped.shape.ranks == 0) throw CLI::RequiredError("--ranks");
  find_names(line);
  line.job.shape = shape_of(line.shaped);
  check_options(*line.job.how, line.shaped.options);
  if (const std::size_t sizes = line.size.in_bytes().size(); !line.svg.empty() && sizes > 1)
    throw CLI::ValidationError("--svg", "one drawing holds one size, not " + std::to_string(sizes));
}

void write(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) throw CLI::ValidationError("--svg", file + " cannot be written");
}

std::optional<placed_network> network_for(const command_line& line, int ranks) {
  if (line.network.topology.empty()) return std::nullopt;
  return place_on(line.network, ranks, line.model.gap_per_byte, line.model.noise.seed);
}

void print(const command_line& line, const sim_report& report) {
  const std::string text = line.json ? to_json(report) : to_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void simulate_job(const command_line& line, sim_report& report, const simulator::workload& all,
                  const std::optional<placed_network>& on) {
  report.steps = all.steps();
  report.cpus = all.cpus();
  if (line.model_name == "loggopsim") {
    report.result = simulator::simulate_as_loggopsim(all, line.model);
    return;
  }
  if (!line.svg.empty() && all.steps() > most_steps_searched)
    throw std::invalid_argument("a drawing of " + std::to_string(all.steps()) + " steps shows none of them");
  const simulator::network* const links = on ? &on->links : nullptr;
  if (!line.svg.empty()) {
    simulator::timeline seen;
    report.result = simulator::simulate(all, line.model, links, &seen);
    report.path = critical_path_of(report.result, seen);
    write(line.svg, to_svg(report.result, seen));
  } else if (all.steps() <= most_steps_searched) {
    auto [done, path] = simulator::simulate_with_path(all, line.model, links);
    report.result = std::move(done);
    report.path = std::move(path);
  } else {
    report.result = simulator::simulate(all, line.model, links);
  }
}

void run(const command_line& line, sim_report report, const simulator::workload& all,
         const std::optional<placed_network>& on) {
  simulate_job(line, report, all, on);
  print(line, report);
}

/// What rank 0 did, for all.
void spread(sim_report& report, simulator::likeness alike, const simulator::workload& of, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  report.alike = true;
  report.steps *= count;
  report.result.messages *= count;
  report.result.ranks.resize(count, report.result.ranks.front());
  if (!report.path) return;
  for (simulator::activity& each : report.path->activities)
    if (each.peer != -1) each.peer = peer_of_alike(alike, ranks, of.describe(0, each.step));
}

void run_collective(const command_line& line, sim_report report, const std::optional<placed_network>& on) {
  const bool all_wanted = on || !line.svg.empty() || line.model_name != "weft";
  if (all_wanted) return run(line, std::move(report), workload_of(line.job, line.model), on);
  const auto [alike, steps] = shortest_workload_of(line.job, line.model);
  if (alike == simulator::likeness::none) return run(line, std::move(report), steps, on);
  simulate_job(line, report, steps, on);
  spread(report, alike, steps, line.job.shape.ranks);
  print(line, report);
}

void sim(command_line& line) {
  finish(line);
  if (!line.goal.empty()) {
    const simulator::workload all = simulator::parse_goal(text_of(line.goal, "--goal"));
    return run(line, {line.goal}, all, network_for(line, all.ranks()));
  }
  const auto on = network_for(line, line.job.shape.ranks);
  if (line.network.in_order) line.job.shape.order = on->ring;
  const std::string what = std::string(name(line.job.how->kind)) + " " + std::string(line.job.how->name);
  std::vector<std::size_t> sizes = line.size.in_bytes();
  if (sizes.empty()) sizes.push_back(8);
  for (const std::size_t bytes : sizes) {
    line.job.bytes = bytes;
    run_collective(line, {what, bytes}, on);
  }
}

void add_model_options(CLI::App& app, command_line& line) {
  simulator::machine_model& model = line.model;
  using simulator::machine_model;
  const auto time = [&](const char* name, double machine_model::*value, const char* meaning, const char* unit = "NS") {
    return app.add_option(name, model.*value, meaning)->check(check_time)->type_name(unit);
  };
  const auto measured = [&](const char* name, double machine_model::*value, const char* meaning,
                            const char* unit = "NS") {
    line.tuned.measured.push_back({time(name, value, meaning, unit), value});
  };
  measured("-L,--latency", &machine_model::latency, "L: from a byte's leaving to its arrival [0]");
  measured("-o,--overhead", &machine_model::overhead, "o: of the CPU, for a message, at each end [0]");
  measured("-g,--gap", &machine_model::gap, "g: between the begins of two messages of a port [0]");
  measured("-G,--gap-per-byte", &machine_model::gap_per_byte, "G: for each byte, of a port [0]", "NS/B");
  time("-O,--overhead-per-byte", &machine_model::overhead_per_byte, "O: for each byte, of the CPU, at each end [0]",
       "NS/B");
  measured("--compute-per-byte", &machine_model::compute_per_byte,
           "c: for each byte combined or copied, of the CPU [0]", "NS/B");
  add_tuning_options(app, line.tuned);
  app.add_option("-S,--rendezvous", model.eager_limit,
                 "Messages of more bytes wait for their receive, at the cost of 2 L [none do]")
      ->transform(size_in_bytes(0))
      ->type_name("BYTES");
  line.of_weft = {
      app.add_flag("--preposted", model.preposted, "Receivers grant ahead: a rendezvous needs no request"),
      app.add_option("--ports", line.ports,
                     "A rank's transfers: LogGP's, which latency does not keep from following one another; one in "
                     "and one out at a time, latency included; or any number [pipelined]"),
      app.add_option(
             "--noise", line.noise,
             "What takes CPUs away: PERIOD:DURATION[:random|coscheduled|exponential], in ns, or FILE[:coscheduled]"
             " of `weft noise --record` or for LogGOPSim's --noise-trace")
          ->type_name("NOISE"),
      app.add_option("--seed", model.noise.seed, "Of what is drawn of noise, and of a random placement [0]"),
      app.add_flag("--progress-thread", model.noise.progress_thread,
                   "A core of its own runs what has begun: noise only delays when a rank begins"),
  };
  choose(line.of_weft[1], {"pipelined", "one", "many"});
  choose(app.add_option("--model", line.model_name,
                        "What a message costs: weft's, or LogGOPSim's to the nanosecond, of whole numbers [weft]"),
         {"weft", "loggopsim"});
}

}  // namespace

void add_sim(CLI::App& weft) {
  CLI::App* const app =
      weft.add_subcommand("sim", "Time a collective, or a GOAL file, on a machine that is described instead of there");
  app->footer(
      "Times are in nanoseconds (any unit will do, if it is the same everywhere), sizes in bytes. On an idle machine\n"
      "a message of B bytes takes L + B G + 2 (o + B O). With --ports one and o = g = 0, reductions take what Canon "
      "and\n"
      "Antoniu compute for d = L + B G. GOAL is what LogGOPSim reads; with --model loggopsim the times are its own "
      "too.\n"
      "The same arguments print the same figures.");
  const auto line = std::make_shared<command_line>();
  line->shaped.shape.ranks = 0;
  const auto of_collective = [&line](CLI::Option* option) {
    line->of_collective.push_back(option);
    return option;
  };
  of_collective(
      app->add_option("COLLECTIVE", line->collective, "What to time: " + CLI::detail::join(collective_names(), ", ")));
  of_collective(app->add_option(ranks_option, line->shaped.shape.ranks, "How many ranks"))
      ->check(whole_number(1, 10'000'000))
      ->type_name("RANKS");
  of_collective(
      app->add_option("--algorithm", line->algorithm, "Which algorithm [the collective's first; of reduce greedy]"))
      ->type_name("NAME");
  add_vector_size(*app, line->size, true, "[8]");
  for (CLI::Option* const option : line->size.options) of_collective(option);
  add_shape_options(*app, line->shaped);
  for (CLI::Option* const option : line->shaped.options) of_collective(option);
  app->add_option("--goal", line->goal, "Time this GOAL file instead")->type_name("FILE");
  add_model_options(*app, *line);
  line->of_collective.push_back(add_network_options(*app, line->network));
  app->add_flag("--json", line->json, "Print one JSON object a line");
  line->of_weft.push_back(
      app->add_option("--svg", line->svg, "Draw the timeline of the ranks into a file")->type_name("FILE"));
  line->of_weft.push_back(app->get_option("--topology"));
  app->callback([line] { sim(*line); });
}

}  // namespace weft::tools
