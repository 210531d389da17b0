#include "plan.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <weft/topology/ring_order.hpp>

#include "command_line.hpp"
#include "plan_list.hpp"
#include "plan_rounds.hpp"
#include "plan_steps.hpp"
#include "plan_tree.hpp"
#include "rank_placement.hpp"

namespace weft::tools {
namespace {

struct command_line {
  std::string collective, algorithm, format = "text", topology, placing = "block";
  plan_job job;
  int group_size = 0;
  std::optional<int> rank;
  bool list = false, verify = false;
  std::vector<CLI::Option*> of_shape;   ///< what only some algorithms take
  std::vector<CLI::Option*> of_limits;  ///< of the greedy reduction
};

/// Whether the plan is printed as a tree, with times.
bool drawn_as_tree(const command_line& line) { return is_timed_tree(line.job) && !line.rank && line.format != "goal"; }

/// Checks that the algorithm takes what is given. Times also have a meaning where trees are timed, and the time of a
/// combine in GOAL.
void check_options(const command_line& line) {
  const auto& how = *line.job.how;
  const std::string called = std::string(name(how.kind)) + " " + std::string(how.name);
  const bool limited =
      std::any_of(line.of_limits.begin(), line.of_limits.end(), [](auto* o) { return o->count() > 0; });
  if (limited && !(how.kind == schedules::collective::reduce && how.name == "greedy"))
    throw CLI::ValidationError("--max-transfers, --max-reducers", "only the greedy tree takes limits, not " + called);
  if (limited && !drawn_as_tree(line))
    throw CLI::ValidationError("--max-transfers, --max-reducers",
                               "limits are on the times of a tree of one segment, as text, JSON or dot");
  std::vector<std::string> valid = options_of(how);
  if (drawn_as_tree(line)) valid.insert(valid.end(), {"--transfer", "--compute"});
  if (line.format == "goal") valid.emplace_back("--compute");
  for (const CLI::Option* given : line.of_shape) {
    if (given->count() == 0 || std::find(valid.begin(), valid.end(), given->get_name()) != valid.end()) continue;
    const std::string takes = valid.empty() ? "no parameters" : CLI::detail::join(valid, ", ");
    throw CLI::ValidationError(given->get_name(), called + " does not take that; it takes " + takes);
  }
}

/// Rings go round as the switches lie; the ranks below one switch are a group.
void place_on_network(command_line& line) {
  auto& shape = line.job.shape;
  const topology::network on = topology::load_network(line.topology);
  const std::vector<int> machine_of_rank = place_ranks(on, shape.ranks, line.placing, 0);
  if (line.job.how->parameters & schedules::takes::order) shape.order = topology::ring_order(on, machine_of_rank);
  if (!(line.job.how->parameters & schedules::takes::groups)) return;
  std::map<int, std::vector<int>> below;
  for (int rank = 0; rank < shape.ranks; ++rank)
    below[on.machines[static_cast<std::size_t>(machine_of_rank[static_cast<std::size_t>(rank)])].at].push_back(rank);
  for (auto& [at, ranks] : below) shape.groups.push_back(std::move(ranks));
}

/// Finds names, and checks what no option alone can know.
void finish(command_line& line) {
  auto& shape = line.job.shape;
  if (line.collective.empty()) throw CLI::RequiredError("COLLECTIVE");
  if (shape.ranks == 0) throw CLI::RequiredError("--ranks");
  line.job.how = &algorithm_named(collective_named(line.collective), line.algorithm);
  check_options(line);
  check_among("--root", shape.root, shape.ranks);
  if (line.rank) check_among("--rank", *line.rank, shape.ranks);
  if (line.rank && (line.format == "dot" || line.format == "goal"))
    throw CLI::ValidationError("--format", line.format + " shows all ranks: with --rank, text or json");
  if (!line.topology.empty() && line.group_size > 0)
    throw CLI::ValidationError("--group-size", "the switches of --topology are the groups: not both");
  if (line.topology.empty())
    shape.groups = group_in_rows(shape.ranks, line.group_size);
  else
    place_on_network(line);
}

void print(const command_line& line) {
  const plan_job& job = line.job;
  const auto put = [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  if (line.rank)
    return line.format == "json" ? print_rank_as_json(job, *line.rank) : print_rank_as_text(job, *line.rank);
  if (line.format == "goal") return print_all_as_goal(job);
  if (is_timed_tree(job))
    return put(line.format == "json" ? tree_as_json(job) : line.format == "dot" ? tree_as_dot(job) : tree_as_text(job));
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
    print(line);
  } catch (const std::invalid_argument& refused) {
    throw CLI::ValidationError("plan", refused.what());
  }
  if (line.verify && !holds(line.job)) status = 1;
}

void add_shape_options(CLI::App& app, command_line& line) {
  auto& shape = line.job.shape;
  const auto number = [&](const char* name, auto& value, const char* meaning, const char* unit, std::int64_t least) {
    line.of_shape.push_back(
        app.add_option(name, value, meaning)->check(whole_number(least, 10'000'000))->type_name(unit));
  };
  const auto time = [&](const char* name, double& value, const char* meaning, const char* unit) {
    line.of_shape.push_back(app.add_option(name, value, meaning)->check(check_time)->type_name(unit));
  };
  line.of_shape.push_back(app.add_option("--root", shape.root, "The rank that gets the result, or starts [0]")
                              ->check(check_rank)
                              ->type_name("RANK"));
  time("--transfer", shape.transfer, "Time to transfer an operand [1]", "D");
  time("--compute", shape.compute, "Time to combine an operand; in GOAL, ns for the vector [1]", "C");
  number("--degree", shape.degree, "f of the f-nomial tree, base of Bruck's digits [2]", "F", 2);
  number("--splits", shape.splits, "How often the vector is halved among halves of the ranks [0]", "S", 0);
  number("--segments,--segment", shape.by.segments, "Parts in which a chunk travels [1]", "N", 1);
  number("--window", shape.by.window, "Receives posted ahead [4]", "N", 1);
  number("--connections", shape.connections, "Between two clusters [1]", "N", 1);
  number("--group-size", line.group_size, "Ranks of a machine or cluster [all]", "RANKS", 1);
  line.of_shape.push_back(
      app.add_option("--topology", line.topology, "Slurm's topology.conf: the order of rings, and switches as groups")
          ->type_name("FILE"));
  choose(app.add_option("--placement", line.placing, "Where ranks are on its machines [block]"),
         {"block", "cyclic", "random"});
  const auto limit = [&](const char* name, int& value, const char* meaning) {
    line.of_limits.push_back(app.add_option(name, value, meaning)->check(whole_number(1, 10'000'000))->type_name("K"));
  };
  limit("--max-transfers", line.job.within.transfers, "At most K transfers at a time (greedy reduce)");
  limit("--max-reducers", line.job.within.reducers, "At most K ranks that combine (greedy reduce)");
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
  line->job.shape.ranks = 0;
  app->add_option("COLLECTIVE", line->collective, "What to plan");
  app->add_option("-n,--ranks", line->job.shape.ranks, "How many ranks")
      ->check(whole_number(1, 10'000'000))
      ->type_name("RANKS");
  app->add_option("--algorithm", line->algorithm, "Which algorithm [the collective's first; of reduce greedy]")
      ->type_name("NAME");
  app->add_option("--count", line->job.bytes, "Size of the vector; of an all-to-all, one rank's input [in GOAL 8]")
      ->check(whole_number(0, std::int64_t{1} << 50))
      ->type_name("BYTES");
  add_shape_options(*app, *line);
  app->add_option("--rank", line->rank, "Show this rank's steps alone")->check(check_rank)->type_name("RANK");
  choose(app->add_option("--format", line->format, "How to print it; goal is what LogGOPSim reads [text]"),
         {"text", "json", "dot", "goal"});
  app->add_flag("--list", line->list, "Show the algorithms instead, of COLLECTIVE or of all");
  app->add_flag("--verify", line->verify, "Check, for all ranks together, that this is the collective");
  app->callback([line, &status] { plan(*line, status); });
}

}  // namespace weft::tools
