// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <sstream>
#include <weft/algorithms/rank_placement.hpp>
#include <weft/algorithms/shape_options.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/series.hpp>

namespace weft::tools {
namespace {

namespace takes = schedules::takes;

/// Ranks, segments and the like.
constexpr std::int64_t most_of_all = 10'000'000;

struct option_name {
  unsigned bit;
  const char* name;
};
constexpr option_name option_names[] = {
    {takes::root, "--root"},
    {takes::segments, "--segments"},
    {takes::window, "--window"},
    {takes::degree, "--degree"},
    {takes::splits, "--splits"},
    {takes::connections, "--connections"},
    {takes::groups | takes::nodes, "--group-size"},
    {takes::costs, "--transfer"},
    {takes::costs, "--compute"},
    {takes::limits, "--max-transfers"},
    {takes::limits, "--max-reducers"},
    {takes::rank_costs, "--rank-costs"},
    {takes::torus, "--torus"},
    {takes::groups | takes::order, "--topology"},
};

schedules::rank_costs costs_in(const std::string& line, const std::string& where) {
  std::istringstream words(line);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    numbers.emplace_back();
    if (const std::string wrong = check_time(word); !wrong.empty() || !parse(word, numbers.back()))
      throw CLI::ValidationError("--rank-costs", where + ": " + wrong);
  }
  if (numbers.size() == 1) return {numbers[0], 1, 1};
  if (numbers.size() == 3) return {numbers[0], numbers[1], numbers[2]};
  throw CLI::ValidationError(
      "--rank-costs", where + ": a line holds a rank's arrival, or its arrival, what a transfer " +
                          "takes it and what a combine does; not " + std::to_string(numbers.size()) + " numbers");
}

std::vector<schedules::rank_costs> read_rank_costs(const std::string& file, int ranks) {
  std::ifstream in(file);
  if (!in) throw CLI::ValidationError("--rank-costs", file + " cannot be read");
  std::vector<schedules::rank_costs> each;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    each.push_back(costs_in(line, file + ":" + std::to_string(number)));
  }
  if (each.size() != static_cast<std::size_t>(ranks))
    throw CLI::ValidationError("--rank-costs", file + " holds the costs of " + std::to_string(each.size()) +
                                                   " ranks: there are " + std::to_string(ranks));
  return each;
}

}  // namespace

void add_shape_options(CLI::App& app, shape_options& line, bool several) {
  auto& shape = line.shape;
  const auto number = [&](const char* name, auto& value, const char* meaning, const char* unit, std::int64_t least) {
    line.options.push_back(
        app.add_option(name, value, meaning)->check(whole_number(least, most_of_all))->type_name(unit));
  };
  line.options.push_back(app.add_option("--root", shape.root, "The rank that gets the result, or starts [0]")
                             ->check(check_rank)
                             ->type_name("RANK"));
  number("--degree", shape.degree, "f of the f-nomial tree, base of Bruck's digits, parts that rows are cut into [2]",
         "F", 2);
  number("--splits", shape.splits, "How often the vector is halved among halves of the ranks [0]", "S", 0);
  constexpr const char *segments = "--segments,--segment", *parts = "Parts in which a chunk travels [1]";
  if (several)
    line.options.push_back(
        add_series(app, segments, line.segments, parts, whole_number(1, most_of_all), stride::doubled)
            ->allow_extra_args(false)
            ->type_name("N,..."));
  else
    number(segments, shape.by.segments, parts, "N", 1);
  number("--window", shape.by.window, "Receives posted ahead [4]", "N", 1);
  number("--connections", shape.connections, "Between two clusters [1]", "N", 1);
  number("--group-size", line.group_size, "Ranks of a machine or cluster [all]", "RANKS", 1);
  number("--max-transfers", shape.within.transfers, "A tree for at most K transfers at a time [any number]", "K", 1);
  number("--max-reducers", shape.within.reducers, "A tree in which at most K ranks combine [any number]", "K", 1);
  line.options.push_back(app.add_option("--rank-costs", line.rank_costs,
                                        "A line a rank: when its data is there, and, unless 1, what a transfer and a "
                                        "combine take it [0 1 1]")
                             ->type_name("FILE"));
  line.options.push_back(
      app.add_option("--torus", line.shape.torus, "Sizes of the torus whose places are the ranks [one ring of all]")
          ->delimiter('x')
          ->allow_extra_args(false)
          ->check(whole_number(2, most_of_all))
          ->type_name("XxYxZ"));
  line.options.push_back(app.add_flag("--keep-order", shape.keep_order,
                                      "Combine in the order of the ranks, as operators need that do not commute"));
}

std::vector<std::string> options_of(const schedules::algorithm& how) {
  std::vector<std::string> options;
  for (const option_name& one : option_names)
    if (how.parameters & one.bit) options.emplace_back(one.name);
  if (how.order == schedules::rank_order::on_request) options.emplace_back("--keep-order");
  return options;
}

void check_options(const schedules::algorithm& how, const std::vector<CLI::Option*>& options,
                   const std::vector<std::string>& others) {
  std::vector<std::string> valid = options_of(how);
  valid.insert(valid.end(), others.begin(), others.end());
  for (const CLI::Option* given : options) {
    if (given->count() == 0 || std::find(valid.begin(), valid.end(), given->get_name()) != valid.end()) continue;
    throw CLI::ValidationError(given->get_name(),
                               std::string(name(how.kind)) + " " + std::string(how.name) +
                                   " does not take that; it takes " +
                                   (valid.empty() ? "no parameters" : CLI::detail::join(valid, ", ")));
  }
}

schedules::algorithm_arguments shape_of(const shape_options& line) {
  schedules::algorithm_arguments shape = line.shape;
  check_among("--root", shape.root, shape.ranks);
  shape.groups = group_in_rows(shape.ranks, line.group_size);
  if (!line.rank_costs.empty()) shape.each = read_rank_costs(line.rank_costs, shape.ranks);
  return shape;
}

}  // namespace weft::tools
