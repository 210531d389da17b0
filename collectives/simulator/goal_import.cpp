// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/workload_builder.hpp>

#include "goal_lexer.hpp"

namespace weft::simulator {
namespace {

struct dependency {
  step_index step;
  step_index before;
  bool on_end;
  std::size_t line;
};

/// A rank's steps as the text has them.
struct rank_statements {
  std::vector<operation> steps;
  std::vector<dependency> dependencies;
};

/// Puts the steps, those that others depend on first, otherwise as in the text, into the workload.
class step_order {
 public:
  step_order(int rank, const rank_statements& of, workload_builder& into)
      : rank_(rank), of_(of), into_(into), after_(of.steps.size()), missing_(of.steps.size(), 0) {}

  void add() {
    std::vector<std::vector<step_index>> following(of_.steps.size());
    for (const dependency& d : of_.dependencies) {
      after_[d.step].push_back(d);
      following[d.before].push_back(d.step);
      ++missing_[d.step];
    }
    std::vector<step_index> free, number(of_.steps.size());  // free: a heap, the first of the text on top
    for (step_index s = static_cast<step_index>(of_.steps.size()); s-- > 0;)
      if (missing_[s] == 0) free.push_back(s);
    std::make_heap(free.begin(), free.end(), std::greater<>());
    std::size_t added = 0;
    for (; !free.empty(); ++added) {
      std::pop_heap(free.begin(), free.end(), std::greater<>());
      const step_index s = free.back();
      free.pop_back();
      number[s] = add(s, number);
      for (const step_index next : following[s]) {
        if (--missing_[next] != 0) continue;
        free.push_back(next);
        std::push_heap(free.begin(), free.end(), std::greater<>());
      }
    }
    if (added != of_.steps.size()) report_circle();
    into_.end_rank(stated(number));
  }

 private:
  /// What is there twice counts where it is the last time: LogGOPSim, which lets dependents go in the order of the
  /// text, counts both.
  std::vector<stated_dependency> stated(const std::vector<step_index>& number) const {
    const auto& given = of_.dependencies;
    const auto key = [&](std::size_t i) { return std::tuple(given[i].before, given[i].step, given[i].on_end); };
    std::vector<std::size_t> sorted(given.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<bool> repeated(given.size());
    for (std::size_t i = 1; i < sorted.size(); ++i) repeated[sorted[i - 1]] = key(sorted[i - 1]) == key(sorted[i]);
    std::vector<stated_dependency> all;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!repeated[i]) all.push_back({number[given[i].before], number[given[i].step], given[i].on_end});
    return all;
  }

  step_index add(step_index s, const std::vector<step_index>& number) {
    std::vector<step_index> ended, begun;
    for (const dependency& d : after_[s]) (d.on_end ? ended : begun).push_back(number[d.before]);
    return into_.add(of_.steps[s], ended, begun);
  }

  /// From a step that waits, to one that it waits for: the walk comes to a circle, and then to a line of it.
  [[noreturn]] void report_circle() const {
    const auto awaited = [&](step_index s) {
      return *std::find_if(after_[s].begin(), after_[s].end(),
                           [&](const dependency& d) { return missing_[d.before] != 0; });
    };
    auto at = static_cast<step_index>(
        std::find_if(missing_.begin(), missing_.end(), [](std::size_t n) { return n != 0; }) - missing_.begin());
    for (std::size_t i = 0; i < missing_.size(); ++i) at = awaited(at).before;
    throw std::invalid_argument("GOAL, line " + std::to_string(awaited(at).line) + ": steps of rank " +
                                std::to_string(rank_) + " require one another in a circle");
  }

  int rank_;
  const rank_statements& of_;
  workload_builder& into_;
  std::vector<std::vector<dependency>> after_;
  std::vector<std::size_t> missing_;  // dependencies of each step on steps not added yet
};

class goal_parser {
 public:
  explicit goal_parser(std::string_view text) : words_(text) {}

  workload parse() {
    words_.skip_lines();
    words_.expect("num_ranks");
    into_.note_goal();
    const auto ranks = words_.number("the number of ranks", 1, std::numeric_limits<std::int32_t>::max());
    for (std::uint64_t rank = 0; rank < ranks; ++rank) parse_rank(static_cast<int>(rank));
    words_.skip_lines();
    if (!words_.at_end()) words_.fail("the end of the text, after rank " + std::to_string(ranks - 1));
    return into_.finish();
  }

 private:
  void parse_rank(int rank) {
    words_.skip_lines();
    words_.expect("rank");
    const auto number = static_cast<std::uint64_t>(rank);
    words_.number(std::to_string(rank) + ", for ranks come in their order", number, number);
    words_.expect("{");
    labels_.clear();
    current_ = {};
    for (words_.skip_lines(); words_.peek() != "}"; words_.skip_lines()) parse_statement();
    words_.expect("}");
    step_order(rank, current_, into_).add();
  }

  void parse_statement() {
    const std::string_view word = words_.peek();
    if (word == "send" || word == "recv" || word == "calc") return parse_step();
    const std::size_t line = words_.line();
    const std::string_view name = words_.identifier("a step, a label or }");
    if (words_.take(":")) {
      if (!labels_.emplace(name, static_cast<step_index>(current_.steps.size())).second)
        words_.fail_at(line, "the label " + std::string(name) + " is there twice in this rank");
      return parse_step();
    }
    const bool on_end = words_.peek() == "requires";
    if (!on_end && words_.peek() != "irequires") words_.fail(":, requires or irequires");
    words_.next();
    const step_index step = labelled(name, line);
    const step_index before = labelled(words_.identifier("a label"), line);
    current_.dependencies.push_back({step, before, on_end, line});
    words_.end_line();
  }

  step_index labelled(std::string_view name, std::size_t line) const {
    const auto found = labels_.find(name);
    if (found == labels_.end())
      words_.fail_at(line, "there is no label " + std::string(name) + " before it in this rank");
    return found->second;
  }

  void parse_step() {
    const std::string_view kind = words_.next();
    operation what;
    if (kind == "calc") {
      what.kind = operation_kind::calculate;
      what.amount = words_.number("a time in nanoseconds", 0, std::uint64_t{1} << 53);
    } else if (kind == "send" || kind == "recv") {
      what.kind = kind == "send" ? operation_kind::send : operation_kind::receive;
      what.amount = words_.number("a number of bytes", 0, std::uint64_t{1} << 53);
      words_.expect("b");
      words_.expect(kind == "send" ? "to" : "from");
      what.peer = static_cast<std::int32_t>(words_.number("a rank", 0, std::numeric_limits<std::int32_t>::max()));
      if (words_.take("tag"))
        what.tag = static_cast<std::uint32_t>(words_.number("a tag", 0, std::numeric_limits<std::uint32_t>::max()));
    } else {
      words_.fail_before("send, recv or calc");
    }
    if (words_.take("cpu")) what.cpu = static_cast<std::uint8_t>(words_.number("a CPU's number", 0, 255));
    if (is_message(what.kind) && words_.take("nic"))
      what.nic = static_cast<std::uint8_t>(words_.number("a network interface's number", 0, 255));
    words_.end_line();
    current_.steps.push_back(what);
  }

  goal_lexer words_;
  workload_builder into_;
  rank_statements current_;
  std::unordered_map<std::string_view, step_index> labels_;
};

}  // namespace

workload parse_goal(std::string_view text) { return goal_parser(text).parse(); }

}  // namespace weft::simulator
