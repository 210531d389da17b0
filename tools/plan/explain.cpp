// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <weft/algorithms/measured_road.hpp>

namespace weft::tools {
namespace {

using schedules::road;

/// Ranks of a group are nearer to each other than the others, if there are groups.
road within_group(const schedules::algorithm_arguments& shape, road over) {
  if (shape.groups.size() <= 1 || over == road::memory) return over;
  return static_cast<road>(static_cast<int>(over) - 1);
}

std::string fixed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string reason(const explained_call& call, const explanation& made) {
  const std::string name(made.chosen.how->name);
  if (call.wanted != nullptr) return name + " is taken because --algorithm says so";
  const auto& all = made.alternatives;
  if (made.chosen.how->pattern != schedules::memory_pattern::none)
    return name + " is taken in the memory that " +
           (made.chosen.how->pattern == schedules::memory_pattern::staged ? "each node shares, and between the nodes"
                                                                          : "the node shares");
  if (all.size() == 1) return name + " is taken because there is no other";
  const double ratio = all[0].seconds > 0 ? all[1].seconds / all[0].seconds : 1;
  if (ratio == 1) return name + " is taken as the first of the table that nothing is predicted to be faster than";
  return name + " is taken as the fastest: " + std::string(all[1].how->name) + " is predicted to take " +
         fixed("%.2f", ratio) + " times as long";
}

/// Where processes of a node share memory they take a pattern of that.
void take_pattern(explanation& made, const explained_call& call, const schedules::board_costs& costs, double combine) {
  const schedules::shared_node on{.shape = call.shape, .costs = costs, .combine = combine, .reads = true};
  const std::size_t given = bytes_given(call.kind, call.bytes, call.shape.ranks);
  for (const schedules::algorithm& how : schedules::algorithms_of(call.kind))
    if (is_candidate(how, given, on)) made.alternatives.push_back(predict(how, given, on));
  std::ranges::stable_sort(made.alternatives, {}, &schedules::prediction::seconds);
  made.chosen.how = &row_of(call.kind, pattern_of(call.kind, given, on));
}

/// Where groups are nodes whose processes share memory, most collectives go in stages.
void take_stages(explanation& made, const explained_call& call, const schedules::machine_costs& machine,
                 double combine) {
  const auto largest = std::ranges::max(call.shape.groups, {}, &std::vector<int>::size).size();
  if (largest == 1 || !schedules::goes_in_stages(call.kind, call.bytes, largest)) return;
  const auto each = path_of_stages(machine, call.kind, made.over, static_cast<double>(call.bytes), combine);
  made.alternatives.push_back(predict_stages(call.kind, call.shape, call.bytes, each));
  made.chosen.how = made.alternatives.back().how;
  std::ranges::stable_sort(made.alternatives, {}, &schedules::prediction::seconds);
}

}  // namespace

explanation explain(const explained_call& call, const detail::tuning& measured) {
  explanation made;
  made.over = call.over.value_or(longest_of(measured.machine));
  const double combine = schedules::combines(call.kind) ? combine_seconds(measured, call.op, call.type) : 0;
  const std::size_t given = schedules::bytes_given(call.kind, call.bytes, call.shape.ranks);
  const auto each = path_of(measured.machine, made.over, within_group(call.shape, made.over), combine, call.kind,
                            static_cast<double>(given));
  schedules::selection_parameters by;
  by.segment = call.segment;
  schedules::demands asked;
  asked.root = call.shape.root;
  asked.by_pattern = call.wanted != nullptr && call.wanted->pattern != schedules::memory_pattern::none;
  asked.no_reading = made.over == road::fabric && call.shape.groups.size() <= 1;
  made.by_length = select(call.kind, call.shape.ranks, call.bytes, by, asked).how;
  by.wanted[static_cast<std::size_t>(call.kind)] = call.wanted;
  made.alternatives = predict_all(call.kind, call.shape, call.bytes, each, call.segment);
  std::erase_if(made.alternatives, [&](const auto& one) { return !meets(asked, *one.how); });
  made.chosen = select_fastest(call.kind, call.shape, call.bytes, each, by, asked);
  if (made.over == road::node && call.wanted == nullptr && measured.machine.boards)
    take_pattern(made, call, *measured.machine.boards, combine);
  if (made.over == road::fabric && call.wanted == nullptr && measured.machine.boards && call.shape.groups.size() > 1)
    take_stages(made, call, measured.machine, combine);
  made.why = reason(call, made);
  return made;
}

std::string explanation_as_text(const explained_call& call, const explanation& made, const std::string& source) {
  std::string text = std::string(name(call.kind)) + ", " + std::to_string(call.shape.ranks) + " ranks, " +
                     std::to_string(call.bytes) + " bytes";
  if (schedules::combines(call.kind))
    text += ", " + std::string(kernels::name(call.op)) + " of " + std::string(kernels::name(call.type));
  text += ", road " + std::string(name(made.over)) + ", costs of " + source + "\n";
  text += "algorithm               segments  predicted us\n";
  for (const auto& one : made.alternatives) {
    std::string line(one.how->name);
    line.resize(24, ' ');
    text += line + fixed("%8.0f", one.segments) + fixed("  %12.3f", one.seconds * 1e6);
    if (one.how == made.chosen.how) text += "  chosen";
    text += "\n";
  }
  return text + made.why + "\nby length alone (--weft-tune=off): " + std::string(made.by_length->name) + "\n";
}

std::string explanation_as_json(const explained_call& call, const explanation& made, const std::string& source) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& one : made.alternatives)
    all.push_back({{"algorithm", one.how->name},
                   {"segments", one.segments},
                   {"predicted_us", one.seconds * 1e6},
                   {"chosen", one.how == made.chosen.how}});
  nlohmann::ordered_json object{{"collective", name(call.kind)},
                                {"ranks", call.shape.ranks},
                                {"bytes", call.bytes},
                                {"op", kernels::name(call.op)},
                                {"type", kernels::name(call.type)},
                                {"road", name(made.over)},
                                {"tuning", source},
                                {"chosen", made.chosen.how->name},
                                {"by_length", made.by_length->name},
                                {"why", made.why},
                                {"alternatives", std::move(all)}};
  return object.dump(1) + "\n";
}

}  // namespace weft::tools
