// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/algorithms/shape_options.hpp>
#include <weft/algorithms/vector_size.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/series.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/loggopsim.hpp>
#include <weft/simulator/timeline.hpp>

#include "report.hpp"
#include "sweep.hpp"
#include "sweep_output.hpp"
#include "swept_algorithms.hpp"
#include "text_file.hpp"
#include "tuning.hpp"

namespace weft::tools {
namespace {

/// Beyond so many steps the critical path is not searched: that takes 8 bytes a step.
constexpr std::uint64_t most_steps_searched = 1 << 24;

struct command_line {
  sim_sweep asked;
  std::string collective;               ///< as it is spelled
  std::vector<std::string> algorithms;  ///< likewise
  vector_size size;
  std::string ports = "pipelined", goal, svg, csv, model_name = "weft";
  std::size_t threads = 0;  ///< 0: as many as there are cores
  tuned_model tuned;
  bool json = false;
  std::vector<CLI::Option*> of_collective;  ///< what does not go with --goal
  std::vector<CLI::Option*> of_weft;        ///< what LogGOPSim's model does not have
};

/// Checks what no option alone can know of the machine.
void finish_model(command_line& line) {
  using simulator::port_model;
  sim_sweep& asked = line.asked;
  asked.model.ports = line.ports == "one"    ? port_model::one
                      : line.ports == "many" ? port_model::many
                                             : port_model::pipelined;
  read_noise(asked.noise);
  take_measured(line.tuned, asked.model);
  asked.as_loggopsim = line.model_name == "loggopsim";
  if (asked.as_loggopsim)
    for (const CLI::Option* option : line.of_weft)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "LogGOPSim has no such thing: not with --model loggopsim");
  check_network(asked.network, asked.model.gap_per_byte);
}

void check_goal(const command_line& line) {
  for (const CLI::Option* option : line.of_collective)
    if (option->count() > 0)
      throw CLI::ValidationError(option->get_name(), "a GOAL file says that itself: not with --goal");
  if (line.asked.seeds.size() > 1)
    throw CLI::ValidationError("--seed",
                               "a GOAL file is timed once: one seed, not " + std::to_string(line.asked.seeds.size()));
}

void finish_collective(command_line& line) {
  sim_sweep& asked = line.asked;
  if (line.collective.empty()) throw CLI::RequiredError("COLLECTIVE or --goal FILE");
  if (asked.ranks.empty()) throw CLI::RequiredError("--ranks");
  asked.algorithms = algorithms_asked(line.collective, line.algorithms, asked.shaped.group_size > 0);
  check_options_of_any(asked.algorithms, asked.shaped.options);
  if (const auto sizes = line.size.in_bytes(); !sizes.empty()) asked.bytes = sizes;
  if (!asked.shaped.segments.empty()) asked.segments = asked.shaped.segments;
}

/// Whether what is asked for is a table or curves, not reports.
bool is_sweep(const command_line& line) {
  const sim_sweep& asked = line.asked;
  return !line.csv.empty() || asked.ranks.size() > 1 || asked.algorithms.size() > 1 || asked.segments.size() > 1 ||
         asked.seeds.size() > 1 || (asked.bytes.size() > 1 && !line.svg.empty());
}

void run_sweep(const command_line& line) {
  const sim_sweep& asked = line.asked;
  if (line.json) throw CLI::ValidationError("--json", "a sweep is rows, or curves: --csv FILE, --svg FILE");
  if (asked.seeds.size() > 1 && asked.noise.text.empty() && asked.network.placing != "random")
    throw CLI::ValidationError("--seed",
                               "nothing is drawn, every seed gives the same: --noise NOISE or --placement "
                               "random draws");
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  write_sweep(asked, {line.csv, line.svg}, line.threads > 0 ? line.threads : cores);
}

void print(const command_line& line, const sim_report& report) {
  const std::string text = line.json ? to_json(report) : to_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void simulate_job(const command_line& line, sim_report& report, const simulator::workload& all,
                  const simulator::machine_model& model, const simulator::network* links) {
  report.steps = all.steps();
  report.cpus = all.cpus();
  if (line.asked.as_loggopsim) {
    if (!line.svg.empty()) throw CLI::ValidationError("--svg", "LogGOPSim has no timeline: not with --model loggopsim");
    report.result = simulator::simulate_as_loggopsim(all, model);
    return;
  }
  if (!line.svg.empty() && all.steps() > most_steps_searched)
    throw std::invalid_argument("a drawing of " + std::to_string(all.steps()) + " steps shows none of them");
  if (!line.svg.empty()) {
    simulator::timeline seen;
    report.result = simulator::simulate(all, model, links, &seen);
    report.path = critical_path_of(report.result, seen);
    write_text(line.svg, to_svg(report.result, seen), "--svg");
  } else if (all.steps() <= most_steps_searched) {
    auto [done, path] = simulator::simulate_with_path(all, model, links);
    report.result = std::move(done);
    report.path = std::move(path);
  } else {
    report.result = simulator::simulate(all, model, links);
  }
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

void run_collective(const command_line& line, const sweep_point& at) {
  const auto [job, model, on] = job_of(line.asked, at);
  sim_report report{std::string(name(job.how->kind)) + " " + std::string(job.how->name), job.bytes};
  if (on || !line.svg.empty() || line.asked.as_loggopsim) {
    simulate_job(line, report, workload_of(job, model), model, on ? &on->links : nullptr);
  } else {
    const auto [alike, steps] = shortest_workload_of(job, model);
    simulate_job(line, report, steps, model, nullptr);
    if (alike != simulator::likeness::none) spread(report, alike, steps, job.shape.ranks);
  }
  print(line, report);
}

void run_goal(const command_line& line) {
  const simulator::workload all = simulator::parse_goal(text_of(line.goal, "--goal"));
  const std::uint64_t seed = line.asked.seeds.front();
  simulator::machine_model model = line.asked.model;
  model.noise = drawn(line.asked.noise, seed);
  std::optional<placed_network> on;
  if (!line.asked.network.topology.empty()) on = place_on(line.asked.network, all.ranks(), model.gap_per_byte, seed);
  sim_report report{line.goal};
  simulate_job(line, report, all, model, on ? &on->links : nullptr);
  print(line, report);
}

void sim(command_line& line) {
  finish_model(line);
  if (!line.goal.empty()) {
    check_goal(line);
    return run_goal(line);
  }
  finish_collective(line);
  if (is_sweep(line)) return run_sweep(line);
  if (line.threads > 0) throw CLI::ValidationError("--threads", "one job takes one core: only a sweep takes that");
  for (const sweep_point& at : points_of(line.asked)) run_collective(line, at);
}

void add_model_options(CLI::App& app, command_line& line) {
  simulator::machine_model& model = line.asked.model;
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
             "--noise", line.asked.noise.text,
             "What takes CPUs away: PERIOD:DURATION[:random|coscheduled|exponential], in ns, or FILE[:coscheduled]"
             " of `weft noise --record` or for LogGOPSim's --noise-trace")
          ->type_name("NOISE"),
      add_series(app, "--seed", line.asked.seeds, "Of what is drawn of noise, and of a random placement [0]",
                 whole_number(0, std::numeric_limits<std::int64_t>::max()), stride::next)
          ->allow_extra_args(false)
          ->type_name("SEED,..."),
      app.add_flag("--progress-thread", line.asked.noise.model.progress_thread,
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
      "The same arguments print the same figures.\n"
      "Several ranks, algorithms, segments or seeds are a sweep: a row of comma-separated values for each job. Numbers "
      "have\n"
      "commas between, or are ranges: 4,7,16 or 2..1024, which doubles (seeds count up), 2..64:+2, 8..1M:x4.");
  const auto line = std::make_shared<command_line>();
  const auto of_collective = [&line](CLI::Option* option) {
    line->of_collective.push_back(option);
    return option;
  };
  of_collective(
      app->add_option("COLLECTIVE", line->collective, "What to time: " + CLI::detail::join(collective_names(), ", ")));
  of_collective(
      add_series(*app, ranks_option, line->asked.ranks, "How many ranks", whole_number(1, 10'000'000), stride::doubled))
      ->allow_extra_args(false)
      ->type_name("RANKS,...");
  of_collective(
      app->add_option("--algorithm", line->algorithms,
                      "Which algorithm [the collective's first; of reduce greedy]; all: of those by messages"))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  add_vector_size(*app, line->size, true, "[8]");
  for (CLI::Option* const option : line->size.options) of_collective(option);
  add_shape_options(*app, line->asked.shaped, true);
  for (CLI::Option* const option : line->asked.shaped.options) of_collective(option);
  app->add_option("--goal", line->goal, "Time this GOAL file instead")->type_name("FILE");
  add_model_options(*app, *line);
  line->of_collective.push_back(add_network_options(*app, line->asked.network));
  app->add_flag("--json", line->json, "Print one JSON object a line");
  app->add_option("--svg", line->svg, "Draw the timeline of the ranks into a file, or the curves of a sweep")
      ->type_name("FILE");
  of_collective(app->add_option("--csv", line->csv, "Write a row for each job of a sweep; - to the standard output"))
      ->type_name("FILE");
  of_collective(app->add_option("--threads", line->threads, "Jobs of a sweep at a time [one for each core]"))
      ->check(whole_number(1, 1024))
      ->type_name("N");
  line->of_weft.push_back(app->get_option("--topology"));
  app->callback([line] { sim(*line); });
}

}  // namespace weft::tools
