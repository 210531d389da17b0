#include "plan.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <weft/schedules/reduce_plan.hpp>

namespace weft::tools {
namespace {

struct command_line {
  std::string collective, format = "text";
  schedules::reduce_parameters reduce;
};

template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size();
}

std::string check_ranks(const std::string& text) {
  int ranks = 0;
  if (parse(text, ranks) && ranks >= 1 && ranks <= 10'000'000) return "";
  return "\"" + text + "\" is not a whole number from 1 to 10000000";
}

std::string check_root(const std::string& text) {
  int root = 0;
  return parse(text, root) && root >= 0 ? "" : "\"" + text + "\" is not a rank, a whole number from 0";
}

std::string check_limit(const std::string& text) {
  int limit = 0;
  return parse(text, limit) && limit >= 1 ? "" : "\"" + text + "\" is not a whole number from 1";
}

std::string check_degree(const std::string& text) {
  int degree = 0;
  return parse(text, degree) && degree >= 2 ? "" : "\"" + text + "\" is not a whole number from 2";
}

std::string check_cost(const std::string& text) {
  double cost = 0;
  // Beyond this, sums of costs could leave what a double holds.
  if (parse(text, cost) && cost >= 0 && cost <= 1e300) return "";
  return "\"" + text + "\" is not a time, a number from 0";
}

void choose(CLI::Option* option, const std::string& words) {
  const std::vector<std::string> valid = CLI::detail::split(words, '|');
  option->check(CLI::IsMember(valid).description(""))->type_name(words);
}

std::string json(const std::string& collective, const schedules::reduce_plan& plan) {
  using schedules::time_text;
  std::string text = "{\"collective\": \"" + collective + "\", \"algorithm\": \"" + plan.algorithm +
                     "\", \"ranks\": " + std::to_string(plan.ranks) + ", \"root\": " + std::to_string(plan.root) +
                     ", \"length\": " + time_text(plan.length) + ", \"edges\": [";
  const char* between = "\n";
  for (const schedules::timed_edge& edge : plan.edges) {
    text += between;
    text += "  {\"from\": " + std::to_string(edge.from) + ", \"to\": " + std::to_string(edge.to) +
            ", \"start\": " + time_text(edge.start) + ", \"end\": " + time_text(edge.end) + "}";
    between = ",\n";
  }
  return text + "]}\n";
}

void plan(const command_line& line) {
  const schedules::reduce_parameters& wanted = line.reduce;
  if (wanted.root >= wanted.ranks)
    throw CLI::ValidationError(
        "--root", std::to_string(wanted.root) + " is none of the ranks 0 to " + std::to_string(wanted.ranks - 1));
  const auto made = [&] {
    try {
      return schedules::plan_reduce(wanted);
    } catch (const std::invalid_argument& refused) {
      throw CLI::ValidationError("plan reduce", refused.what());
    }
  }();
  const std::string text = line.format == "json" ? json(line.collective, made) : schedules::draw(made);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_plan(CLI::App& weft) {
  CLI::App* const app =
      weft.add_subcommand("plan", "Show what a collective would do: its tree, and when each transfer takes place");
  app->footer(
      "The model is that of Canon and Antoniu: a transfer takes D, a combine C, in any one unit; a rank receives one\n"
      "operand at a time, and combines it while it receives the next.");
  const auto line = std::make_shared<command_line>();
  choose(app->add_option("COLLECTIVE", line->collective, "What to plan")->required(), "reduce");
  schedules::reduce_parameters& wanted = line->reduce;
  app->add_option("--ranks", wanted.ranks, "How many ranks")->required()->check(check_ranks)->type_name("RANKS");
  choose(app->add_option("--algorithm", wanted.algorithm, "Which tree [greedy]"),
         CLI::detail::join(schedules::reduce_algorithms(), "|"));
  app->add_option("--transfer", wanted.transfer, "Time to transfer an operand [1]")->check(check_cost)->type_name("D");
  app->add_option("--compute", wanted.compute, "Time to combine an operand [1]")->check(check_cost)->type_name("C");
  app->add_option("--root", wanted.root, "The rank that gets the result [0]")->check(check_root)->type_name("RANK");
  app->add_option("--max-transfers", wanted.within.transfers, "At most K transfers at a time (greedy)")
      ->check(check_limit)
      ->type_name("K");
  app->add_option("--max-reducers", wanted.within.reducers, "At most K ranks that combine (greedy)")
      ->check(check_limit)
      ->type_name("K");
  app->add_option("--degree", wanted.degree, "Degree of the f-nomial tree [2]")->check(check_degree)->type_name("F");
  choose(app->add_option("--format", line->format, "How to print it [text]"), "text|json");
  app->callback([line] { plan(*line); });
}

}  // namespace weft::tools
