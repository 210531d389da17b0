// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <weft/algorithms/measured_road.hpp>
#include <weft/algorithms/rank_placement.hpp>
#include <weft/algorithms/shape_options.hpp>
#include <weft/algorithms/vector_size.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/fabric/messenger_settings.hpp>

#include "explain.hpp"
#include "job.hpp"
#include "list.hpp"
#include "loads.hpp"
#include "page.hpp"

namespace weft::tools {
namespace {

struct command_line {
  std::string collective, algorithm, format = "text", html, topology, placing = "block";
  shape_options shaped;
  plan_job job;
  std::optional<int> rank;
  std::optional<double> link_gap;
  bool list = false, verify = false, explain = false, loads = false;
  vector_size size;
  std::string tuning, op = "sum", road;
  std::vector<CLI::Option*> of_explanation;  ///< what says what a call costs
};

/// Whether the plan is printed as a tree, with times.
bool drawn_as_tree(const command_line& line) {
  return is_timed_tree(line.job) && !line.rank && line.format != "goal" && line.html.empty();
}

/// Times also have a meaning where trees are timed and on a page, and the time of a combine in GOAL.
std::vector<std::string> times_with_a_meaning(const command_line& line) {
  if (drawn_as_tree(line) || !line.html.empty()) return {"--transfer", "--compute"};
  if (line.format == "goal") return {"--compute"};
  return {};
}

call_network network_of(const command_line& line) {
  call_network network{line.topology, topology::load_network(line.topology), {}, {}};
  network.machine_of_rank =
      place_ranks(static_cast<int>(network.switches.machines.size()), line.job.shape.ranks, line.placing, 0);
  if (line.link_gap) network.link_gap = *line.link_gap * 1e-9;
  return network;
}

/// As far as the algorithm asks where its ranks are.
void place(command_line& line) {
  auto& shape = line.job.shape;
  schedules::algorithm_arguments placed = shape;
  place_on(network_of(line), placed);
  if (line.job.how->parameters & schedules::takes::order) shape.order = std::move(placed.order);
  if (line.job.how->parameters & schedules::takes::groups) shape.groups = std::move(placed.groups);
}

/// Checks what else is asked for beside the loads of links.
void check_loads(const command_line& line) {
  if (line.topology.empty()) throw CLI::ValidationError("--loads", "of which network's links? --topology FILE says it");
  if (line.rank || !line.html.empty() || (line.format != "text" && line.format != "json"))
    throw CLI::ValidationError("--loads", "are those of all ranks, as text or json: without --rank and --html");
}

/// Finds names, and checks what no option alone can know.
void finish(command_line& line) {
  if (line.collective.empty()) throw CLI::RequiredError("COLLECTIVE");
  if (line.shaped.shape.ranks == 0) throw CLI::RequiredError("--ranks");
  line.job.shape = shape_of(line.shaped);
  if (const auto sizes = line.size.in_bytes(); !sizes.empty()) line.job.bytes = sizes.front();
  if (!line.topology.empty() && line.shaped.group_size > 0)
    throw CLI::ValidationError("--group-size", "the switches of --topology are the groups: not both");
  if (line.explain) return;
  for (const CLI::Option* given : line.of_explanation)
    if (given->count() > 0) throw CLI::ValidationError(given->get_name(), "only an explanation takes that: --explain");
  line.job.how = &algorithm_named(collective_named(line.collective), line.algorithm);
  std::vector<std::string> meant = times_with_a_meaning(line);
  if (line.loads) meant.insert(meant.end(), {"--topology", "--transfer", "--compute"});
  check_options(*line.job.how, line.shaped.options, meant);
  if (line.rank) check_among("--rank", *line.rank, line.job.shape.ranks);
  if (line.rank && (line.format == "dot" || line.format == "goal"))
    throw CLI::ValidationError("--format", line.format + " shows all ranks: with --rank, text or json");
  if (!line.html.empty() && (line.rank || line.format != "text"))
    throw CLI::ValidationError("--html",
                               "a page shows all ranks, and is a format of its own: without --rank and --format");
  if (line.loads) check_loads(line);
  if (!line.topology.empty()) place(line);
}

/// What --weft-tune would say.
std::string tuning_file(const command_line& line) {
  if (!line.tuning.empty()) return line.tuning;
  const options set = parse_weft_arguments({});
  if (!set.tunes_at_start() && set.tune != "off") return set.tune;
  throw CLI::ValidationError("--explain",
                             "by which costs? --tuning FILE says it, or WEFT_TUNE; `weft tune` writes one");
}

void print_explanation(const command_line& line) {
  if (line.format != "text" && line.format != "json")
    throw CLI::ValidationError("--format", "an explanation is text or json, not " + line.format);
  if (line.rank || line.verify || line.loads)
    throw CLI::ValidationError("--explain", "goes with none of --rank, --verify and --loads");
  if (line.link_gap && line.topology.empty())
    throw CLI::ValidationError("--link-gap", "only a network has that: --topology FILE");
  if (line.job.shape.by.segments != 1)
    throw CLI::ValidationError("--segments", "an explanation says itself how many are best");
  explained_call call;
  call.kind = collective_named(line.collective);
  call.shape = line.job.shape;
  call.bytes = line.job.bytes.value_or(8);
  call.op = kernels::find_operation(line.op).value();
  call.type = line.size.type;
  if (!kernels::has(call.op, call.type)) throw CLI::ValidationError("--op", kernels::refusal(call.op, call.type));
  call.over = road_named(line.road);
  if (!line.topology.empty()) {
    call.on = network_of(line);
    place_on(*call.on, call.shape);
  }
  if (!line.algorithm.empty()) call.wanted = &algorithm_named(call.kind, line.algorithm);
  const std::string source = tuning_file(line);
  detail::tuning measured = detail::read_tuning(source);
  const options settings = parse_weft_arguments({});
  measured.machine.eager = static_cast<double>(settings.eager_limit);
  measured.machine.at_once = static_cast<double>(fabric::longest_at_once(settings.eager_limit, settings.credit));
  const explanation made = explain(call, measured);
  const std::string text =
      line.format == "json" ? explanation_as_json(call, made, source) : explanation_as_text(call, made, source);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void write_page(const std::string& file, const std::string& page) {
  if (file == "-") {
    std::fwrite(page.data(), 1, page.size(), stdout);
    return;
  }
  std::ofstream out(file, std::ios::binary);
  out << page << std::flush;
  if (!out) throw CLI::ValidationError("--html", file + " cannot be written: " + std::strerror(errno));
}

void print(const command_line& line) {
  const plan_job& job = line.job;
  if (!line.html.empty()) return write_page(line.html, plan_as_page(job));
  const auto put = [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  if (line.loads) return put(loads_of(job, network_of(line), line.format == "json"));
  if (line.rank)
    return line.format == "json" ? print_rank_as_json(job, *line.rank) : print_rank_as_text(job, *line.rank);
  if (line.format == "goal") return print_all_as_goal(job);
  if (is_timed_tree(job)) {
    if (line.format == "json") return print_tree_as_json(job);
    return line.format == "dot" ? print_tree_as_dot(job) : put(tree_as_text(job));
  }
  if (line.format == "json") return print_all_as_json(job);
  if (line.format == "dot") return print_all_as_dot(job);
  put(draw_rounds(job));
}

/// Says on the standard error, so that the standard output is the plan alone.
bool holds(const plan_job& job) {
  const auto found = verify(job);
  if (!found) {
    std::fprintf(stderr, "verified: %s\n", heading(job).c_str());
    return true;
  }
  const std::string step = found->step ? ", step " + std::to_string(*found->step) : "";
  std::fprintf(stderr, "weft: rank %d%s: %s\n", found->rank, step.c_str(), found->what.c_str());
  return false;
}

void print_list(const command_line& line) {
  std::optional<schedules::collective> of;
  if (!line.collective.empty()) of = collective_named(line.collective);
  if (line.format != "text" && line.format != "json")
    throw CLI::ValidationError("--format", "a list is text or json, not " + line.format);
  const std::string text = line.format == "json" ? list_as_json(of) : list_as_text(of);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void plan(command_line& line, int& status) {
  try {
    if (line.list) return print_list(line);
    finish(line);
    if (line.explain) return print_explanation(line);
    print(line);
  } catch (const std::invalid_argument& refused) {
    std::fprintf(stderr, "weft plan: %s\n", refused.what());
    status = 2;
    return;
  }
  if (line.verify && !holds(line.job)) status = 1;
}

void add_options_of_plans(CLI::App& app, command_line& line) {
  std::vector<CLI::Option*>& options = line.shaped.options;
  const auto time = [&](const char* name, double& value, const char* meaning, const char* unit) {
    options.push_back(app.add_option(name, value, meaning)->check(check_time)->type_name(unit));
  };
  time("--transfer", line.shaped.shape.transfer, "Time to transfer an operand [1]", "D");
  time("--compute", line.shaped.shape.compute, "Time to combine an operand; in GOAL, ns for the vector [1]", "C");
  add_shape_options(app, line.shaped, false);
  options.push_back(
      app.add_option("--topology", line.topology,
                     "Slurm's topology.conf: the order of rings, switches as groups, and what links carry")
          ->type_name("FILE"));
  choose(app.add_option("--placement", line.placing, "Where ranks are on its machines [block]"),
         {"block", "cyclic", "random"});
}

void add_explanation_options(CLI::App& app, command_line& line) {
  app.add_flag("--explain", line.explain, "Show instead what each algorithm is predicted to take, and the choice");
  line.of_explanation = {app.add_option("--tuning", line.tuning, "What costs were measured, by `weft tune` [WEFT_TUNE]")
                             ->type_name("FILE"),
                         app.add_option("--op", line.op, "What combines the elements [sum]"),
                         add_road_option(app, line.road),
                         app.add_option("--link-gap", line.link_gap,
                                        "For each byte, of a link of the network each way [as between two ranks]")
                             ->check(check_time)
                             ->type_name("NS/B")};
  std::vector<std::string> operations;
  for (const kernels::operation each : kernels::all_operations()) operations.emplace_back(kernels::name(each));
  choose(line.of_explanation[1], operations);
}

}  // namespace

void add_plan(CLI::App& weft, int& status) {
  CLI::App* const app =
      weft.add_subcommand("plan", "Show what a collective would do: its tree or rounds, or every step");
  app->footer(
      "Trees are timed by the model of Canon and Antoniu: a transfer takes D, a combine C, in any one unit; a rank\n"
      "receives one operand at a time, and combines it while it receives the next. Other algorithms are drawn as "
      "rounds,\n"
      "in which a rank sends and receives one message. The algorithms, their sources and what they take:\n" +
      short_list());
  const auto line = std::make_shared<command_line>();
  line->shaped.shape.ranks = 0;
  app->add_option("COLLECTIVE", line->collective, "What to plan");
  app->add_option(ranks_option, line->shaped.shape.ranks, "How many ranks")
      ->check(whole_number(1, 10'000'000))
      ->type_name("RANKS");
  app->add_option("--algorithm", line->algorithm, "Which algorithm [the collective's first; of reduce greedy]")
      ->type_name("NAME");
  add_vector_size(*app, line->size, false, "[in GOAL 8]");
  add_options_of_plans(*app, *line);
  app->add_option("--rank", line->rank, "Show this rank's steps alone")->check(check_rank)->type_name("RANK");
  choose(app->add_option("--format", line->format, "How to print it; goal is what LogGOPSim reads [text]"),
         {"text", "json", "dot", "goal"});
  app->add_option("--html", line->html,
                  "Write a page into this file: the tree or rounds, every rank over time, and a slider; -: print it")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE");
  app->add_flag("--list", line->list, "Show the algorithms instead, of COLLECTIVE or of all");
  app->add_flag("--verify", line->verify, "Check, for all ranks together, that this is the collective");
  app->add_flag("--loads", line->loads,
                "Show instead what goes through each link of --topology, and how much of it at once");
  add_explanation_options(*app, *line);
  app->callback([line, &status] { plan(*line, status); });
}

}  // namespace weft::tools
