// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <weft/runtime/error.hpp>
#include <weft/runtime/text_file.hpp>
#include <weft/topology/host_list.hpp>
#include <weft/topology/network.hpp>

#include "index.hpp"
#include "network_lines.hpp"

namespace weft::topology {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class network_reader {
 public:
  explicit network_reader(const std::string& file) : file_(file) {}

  network read(std::string_view text) {
    for (const configuration_line& line : read_lines(text, file_)) add(line);
    if (made_.switches.empty()) throw error(errc::invalid_argument, file_ + ": there is no line with a SwitchName");
    for (std::size_t i = 0; i < made_.switches.size(); ++i) join(static_cast<int>(i));
    made_.top = top();
    return std::move(made_);
  }

 private:
  struct source {
    int line = 0;
    std::string switches;  // the list
  };

  void add(const configuration_line& line) {
    std::unordered_map<std::string, std::string> values;
    for (const key_value& pair : line.pairs) {
      const std::string key = lower(pair.key);
      if (key != "switchname" && key != "nodes" && key != "switches" && key != "linkspeed")
        bad_line(file_, line.number,
                 "\"" + pair.key + "\" is no key: there are SwitchName, Nodes, Switches and LinkSpeed");
      if (!values.emplace(key, pair.value).second) bad_line(file_, line.number, pair.key + " stands there twice");
    }
    const std::string name = values["switchname"];
    if (name.empty()) bad_line(file_, line.number, "SwitchName is missing");
    if (name.find_first_of("[],") != std::string::npos)
      bad_line(file_, line.number, "a line is about one switch, not about \"" + name + "\"");
    if (values["nodes"].empty() && values["switches"].empty())
      bad_line(file_, line.number, "switch " + name + " has neither Nodes nor Switches");
    const int index = static_cast<int>(made_.switches.size());
    const auto [known, fresh] = switch_of_.emplace(name, index);
    if (!fresh)
      bad_line(file_, line.number,
               "switch " + name + " has been defined before, on line " + std::to_string(line_of(known->second)));
    made_.switches.push_back({name, -1, {}, {}});
    sources_.push_back({line.number, values["switches"]});
    if (!values["nodes"].empty())
      for (std::string& machine : expanded(values["nodes"], line.number)) add_machine(std::move(machine), index);
  }

  void add_machine(std::string name, int at_switch) {
    const int index = static_cast<int>(made_.machines.size());
    const auto [known, fresh] = machine_of_.emplace(name, index);
    if (!fresh)
      bad_line(file_, line_of(at_switch),
               "node " + name + " has been named before, on line " +
                   std::to_string(line_of(made_.machines[at(known->second)].at)));
    if (made_.machines.size() >= most_hosts)
      bad_line(file_, line_of(at_switch), "there are more than " + std::to_string(most_hosts) + " nodes");
    made_.machines.push_back({std::move(name), at_switch});
    made_.switches[at(at_switch)].machines.push_back(index);
  }

  /// Joins a switch with those below it.
  void join(int index) {
    const source& from = sources_[at(index)];
    if (from.switches.empty()) return;
    for (const std::string& name : expanded(from.switches, from.line)) {
      const auto known = switch_of_.find(name);
      if (known == switch_of_.end()) bad_line(file_, from.line, "no line defines switch " + name);
      int& parent = made_.switches[at(known->second)].parent;
      if (parent != -1)
        bad_line(file_, from.line,
                 "switch " + name + " is already below switch " + made_.switches[at(parent)].name + ", on line " +
                     std::to_string(line_of(parent)));
      parent = index;
      made_.switches[at(index)].switches.push_back(known->second);
    }
  }

  /// The one switch that is below none, when all others are below it.
  int top() const {
    std::vector<int> tops, reached;
    for (std::size_t i = 0; i < made_.switches.size(); ++i)
      if (made_.switches[i].parent == -1) tops.push_back(static_cast<int>(i));
    reached = tops;
    std::vector<bool> seen(made_.switches.size(), false);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      seen[at(reached[i])] = true;
      for (const int below : made_.switches[at(reached[i])].switches) reached.push_back(below);
    }
    const auto lost = std::find(seen.begin(), seen.end(), false);
    if (lost != seen.end()) loop(static_cast<int>(lost - seen.begin()));
    if (tops.size() > 1)
      bad_line(file_, line_of(tops[1]),
               "switch " + name_of(tops[1]) + " is below no other, nor is " + name_of(tops[0]) + ", on line " +
                   std::to_string(line_of(tops[0])) + ": one switch should be above all others");
    return tops[0];
  }

  /// Every switch that no top reaches has a loop above it, or is on one.
  [[noreturn]] void loop(int lost) const {
    int on = lost;
    for (std::size_t i = 0; i < made_.switches.size(); ++i) on = made_.switches[at(on)].parent;
    std::vector<int> around{on};
    while (made_.switches[at(around.back())].parent != on) around.push_back(made_.switches[at(around.back())].parent);
    std::rotate(around.begin(), std::min_element(around.begin(), around.end()), around.end());
    std::string way = name_of(around.front());
    for (std::size_t i = 1; i <= around.size(); ++i) way += " below " + name_of(around[i % around.size()]);
    bad_line(file_, line_of(around.front()), "the switches make a loop: " + way);
  }

  std::vector<std::string> expanded(const std::string& list, int line) const {
    try {
      return expand_host_list(list);
    } catch (const error& bad) {
      bad_line(file_, line, bad.what());
    }
  }

  int line_of(int index) const { return sources_[at(index)].line; }
  const std::string& name_of(int index) const { return made_.switches[at(index)].name; }

  const std::string& file_;
  network made_;
  std::vector<source> sources_;  // of each switch
  std::unordered_map<std::string, int> switch_of_, machine_of_;
};

}  // namespace

network parse_network(std::string_view text, const std::string& file) { return network_reader(file).read(text); }

network load_network(const std::string& path) {
  const std::optional<std::string> text = read_text(path);
  if (!text) throw error(errc::invalid_argument, "the network description " + path + " cannot be read");
  return parse_network(*text, path);
}

std::vector<int> machines_of_ranks(const network& of, std::span<const std::string> hosts) {
  std::unordered_map<std::string_view, int> machine_of;
  for (std::size_t i = 0; i < of.machines.size(); ++i) machine_of.emplace(of.machines[i].name, static_cast<int>(i));
  std::vector<int> machines;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const std::string_view host = hosts[rank];
    auto known = machine_of.find(host);
    if (known == machine_of.end()) known = machine_of.find(host.substr(0, host.find('.')));
    if (known == machine_of.end())
      throw error(errc::invalid_argument, "rank " + std::to_string(rank) + " is on " + hosts[rank] +
                                              ", which is not in the network description");
    machines.push_back(known->second);
  }
  return machines;
}

}  // namespace weft::topology
