// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <weft/algorithms/measured_road.hpp>
#include <weft/choice/network_costs.hpp>
#include <weft/topology/ring_order.hpp>

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

/// What of the others is predicted to be the fastest; null: there is no other.
const alternative* next_of(const explanation& made) {
  const auto& all = made.alternatives;
  const auto next = std::ranges::find_if(all, [&](const alternative& one) { return one.how != made.chosen.how; });
  return next != all.end() ? &*next : nullptr;
}

std::string reason(const explained_call& call, const explanation& made) {
  const std::string name(made.chosen.how->name);
  if (call.wanted != nullptr) return name + " is taken because --algorithm says so";
  if (made.chosen.how->pattern != schedules::memory_pattern::none)
    return name + " is taken in the memory that " +
           (made.chosen.how->pattern == schedules::memory_pattern::staged ? "each node shares, and between the nodes"
                                                                          : "the node shares");
  const alternative* const next = next_of(made);
  if (next == nullptr) return name + " is taken because there is no other";
  const auto chosen = std::ranges::find(made.alternatives, made.chosen.how, &alternative::how);
  const double ratio = chosen->seconds > 0 ? next->seconds / chosen->seconds : 1;
  const std::string where = call.on ? " where messages share the links of " + call.on->file : "";
  if (ratio < 1) return name + " is taken as the fastest of those whose formulas say that they may be" + where;
  if (ratio == 1)
    return name + " is taken as the first of the table that nothing is predicted to be faster than" + where;
  std::string why = name + " is taken as the fastest" + where + ": " + std::string(next->how->name) +
                    " is predicted to take " + fixed("%.2f", ratio) + " times as long";
  const auto alone = std::ranges::min_element(made.alternatives, {}, &alternative::alone);
  if (call.on && alone->how != made.chosen.how)
    why += "; with links of its own for each message " + std::string(alone->how->name) + " would be";
  return why;
}

std::vector<alternative> alternatives_of(const std::vector<schedules::prediction>& by_formula) {
  std::vector<alternative> all;
  for (const auto& one : by_formula) all.push_back({one, one.seconds});
  return all;
}

/// Where processes of a node share memory they take a pattern of that.
void take_pattern(explanation& made, const explained_call& call, const schedules::board_costs& costs, double combine) {
  const schedules::shared_node on{.shape = call.shape, .costs = costs, .combine = combine, .reads = true};
  const std::size_t given = bytes_given(call.kind, call.bytes, call.shape.ranks);
  for (const schedules::algorithm& how : schedules::algorithms_of(call.kind))
    if (is_candidate(how, given, on)) made.alternatives.push_back({predict(how, given, on)});
  std::ranges::stable_sort(made.alternatives, {}, &alternative::seconds);
  made.chosen.how = &row_of(call.kind, pattern_of(call.kind, given, on));
}

/// The call among the first ranks of nodes of so many ranks at most.
explained_call between_nodes(const explained_call& call, std::size_t most) {
  using schedules::collective;
  explained_call firsts = call;
  if (call.kind == collective::scan) firsts.kind = collective::exscan;
  if (call.kind == collective::alltoall) firsts.bytes *= most;
  firsts.on->machine_of_rank.clear();
  for (const auto& node : call.shape.nodes)
    firsts.on->machine_of_rank.push_back(call.on->machine_of_rank[static_cast<std::size_t>(node.front())]);
  firsts.shape.ranks = static_cast<int>(call.shape.nodes.size());
  firsts.shape.root = 0;
  place_on(*firsts.on, firsts.shape);
  return firsts;
}

/// What links that are shared add to the stage between the nodes.
double added_between(const explained_call& firsts, const detail::tuning& measured) {
  const explanation made = explain(firsts, measured);
  const auto chosen = std::ranges::find(made.alternatives, made.chosen.how, &alternative::how);
  const auto alone = std::ranges::min_element(made.alternatives, {}, &alternative::alone);
  return std::max(0.0, chosen->seconds - alone->alone);
}

/// Where there are several nodes whose processes share memory, most collectives go in stages.
void take_stages(explanation& made, const explained_call& call, const detail::tuning& measured, double combine) {
  const auto& nodes = call.on ? call.shape.nodes : call.shape.groups;
  if (nodes.size() <= 1) return;
  const auto most = std::ranges::max(nodes, {}, &std::vector<int>::size).size();
  if (most == 1 || !schedules::goes_in_stages(call.kind, call.bytes, most)) return;
  const auto each = path_of_stages(measured.machine, call.kind, made.over, static_cast<double>(call.bytes), combine);
  schedules::prediction staged = predict_stages(call.kind, call.shape, call.bytes, each);
  const double alone = staged.seconds;
  if (call.on) staged.seconds += added_between(between_nodes(call, most), measured);
  made.alternatives.push_back({staged, alone});
  made.chosen.how = staged.how;
  std::ranges::stable_sort(made.alternatives, {}, &alternative::seconds);
}

/// Looks at each algorithm on the network of the call.
class network_look {
 public:
  network_look(const explained_call& call, const detail::tuning& measured, const schedules::path_costs& each, road over)
      : call_{call.shape, call.bytes, each, call.segment} {
    const schedules::road_costs& costs = costs_of(measured.machine, over);
    const double gap = call.on->link_gap.value_or(costs.gap_per_byte);
    if (!(gap > 0)) throw std::invalid_argument("the links of " + call.on->file + " need a speed: give --link-gap");
    const bool combines = schedules::combines(call.kind);
    const double combine = combine_seconds(measured, combines ? call.op : kernels::operation::sum,
                                           combines ? call.type : kernels::type::float32);
    on_ = {detail::links_of(call.on->switches, call.on->machine_of_rank, gap), detail::model_of(costs, combine)};
  }

  simulator::network_prediction operator()(const schedules::prediction& by_formula,
                                           double worth = std::numeric_limits<double>::infinity()) const {
    return simulator::predict(by_formula, call_, on_, worth);
  }

 private:
  simulator::formula_call call_;
  simulator::priced_network on_;
};

/// Chooses by a closer look, and looks at all.
void look_closer(explanation& made, const network_look& look) {
  for (alternative& one : made.alternatives) {
    const auto seen = look(one);
    one = {seen.predicted, one.alone, seen.simulated};
  }
  std::ranges::stable_sort(made.alternatives, {}, &alternative::seconds);
}

}  // namespace

void place_on(const call_network& network, schedules::algorithm_arguments& shape) {
  const auto switch_of = [&](int machine) { return network.switches.machines[static_cast<std::size_t>(machine)].at; };
  std::map<int, std::vector<int>> below, on;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int machine = network.machine_of_rank[static_cast<std::size_t>(rank)];
    below[switch_of(machine)].push_back(rank);
    on[machine].push_back(rank);
  }
  shape.order = topology::ring_order(network.switches, network.machine_of_rank);
  shape.groups.clear();
  shape.nodes.clear();
  for (auto& [at, ranks] : below) shape.groups.push_back(std::move(ranks));
  for (auto& [machine, ranks] : on) shape.nodes.push_back(std::move(ranks));
}

explanation explain(const explained_call& call, const detail::tuning& measured) {
  explanation made;
  made.over = call.over.value_or(longest_of(measured.machine));
  const double combine = schedules::combines(call.kind) ? combine_seconds(measured, call.op, call.type) : 0;
  const std::size_t given = schedules::bytes_given(call.kind, call.bytes, call.shape.ranks);
  const road within = call.on ? made.over : within_group(call.shape, made.over);
  const auto each = path_of(measured.machine, made.over, within, combine, call.kind, static_cast<double>(given));
  schedules::selection_parameters by;
  by.segment = call.segment;
  schedules::demands asked;
  asked.root = call.shape.root;
  asked.by_pattern = call.wanted != nullptr && call.wanted->pattern != schedules::memory_pattern::none;
  asked.no_reading = call.on ? std::ssize(call.shape.nodes) == call.shape.ranks
                             : made.over == road::fabric && call.shape.groups.size() <= 1;
  made.by_length = select(call.kind, call.shape.ranks, call.bytes, by, asked).how;
  by.wanted[static_cast<std::size_t>(call.kind)] = call.wanted;
  auto by_formula = predict_all(call.kind, call.shape, call.bytes, each, call.segment);
  std::erase_if(by_formula, [&](const auto& one) { return !may_be_chosen(*one.how, asked, call.wanted); });
  made.alternatives = alternatives_of(by_formula);
  std::optional<network_look> look;
  if (call.on) look.emplace(call, measured, each, made.over);
  const auto closer = [&](const schedules::prediction& one, double worth) { return (*look)(one, worth).predicted; };
  made.chosen = select_fastest(call.kind, call.shape, call.bytes, each, by, asked,
                               look ? schedules::closer_look(closer) : nullptr);
  if (look) look_closer(made, *look);
  const bool by_name = call.wanted != nullptr;
  if (made.over == road::node && !by_name && !call.on && measured.machine.boards)
    take_pattern(made, call, *measured.machine.boards, combine);
  if (made.over == road::fabric && !by_name && measured.machine.boards) take_stages(made, call, measured, combine);
  made.why = reason(call, made);
  return made;
}

std::string explanation_as_text(const explained_call& call, const explanation& made, const std::string& source) {
  std::string text = std::string(name(call.kind)) + ", " + std::to_string(call.shape.ranks) + " ranks, " +
                     std::to_string(call.bytes) + " bytes";
  if (schedules::combines(call.kind))
    text += ", " + std::string(kernels::name(call.op)) + " of " + std::string(kernels::name(call.type));
  text += ", road " + std::string(name(made.over)) + ", costs of " + source;
  text += call.on ? ", links of " + call.on->file + "\n" : "\n";
  text += call.on ? "algorithm               segments  predicted us      alone us\n"
                  : "algorithm               segments  predicted us\n";
  for (const auto& one : made.alternatives) {
    std::string line(one.how->name);
    line.resize(24, ' ');
    text += line + fixed("%8.0f", one.segments) + fixed("  %12.3f", one.seconds * 1e6);
    if (call.on) text += fixed("  %12.3f", one.alone * 1e6);
    if (one.degree > 2) text += "  degree " + std::to_string(one.degree);
    if (one.how == made.chosen.how) text += "  chosen";
    text += "\n";
  }
  return text + made.why + "\nby length alone (--weft-tune=off): " + std::string(made.by_length->name) + "\n";
}

std::string explanation_as_json(const explained_call& call, const explanation& made, const std::string& source) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& one : made.alternatives) {
    all.push_back({{"algorithm", one.how->name},
                   {"segments", one.segments},
                   {"predicted_us", one.seconds * 1e6},
                   {"chosen", one.how == made.chosen.how}});
    if (one.degree != 0) all.back()["degree"] = one.degree;
    if (call.on) all.back()["alone_us"] = one.alone * 1e6;
    if (one.simulated > 0) all.back()["simulated_us"] = one.simulated * 1e6;
  }
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
  if (call.on) object["topology"] = call.on->file;
  return object.dump(1) + "\n";
}

}  // namespace weft::tools
