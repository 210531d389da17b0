// SPDX-License-Identifier: Apache-2.0
#include <weft/simulator/goal.hpp>

#include "goal_amounts.hpp"

namespace weft::simulator {
namespace {

std::string label(step_index step) { return "l" + std::to_string(step); }

class rank_text {
 public:
  rank_text(const workload& all, int rank, double compute_per_byte)
      : all_(all), rank_(rank), compute_per_byte_(compute_per_byte) {}

  std::string text() {
    text_ = "rank " + std::to_string(rank_) + " {\n";
    const shape& of = all_.of(rank_);
    for (step_index s = 0; s < of.steps.size(); ++s) {
      statement(s, of.steps[s]);
      for (const step_index before : shape::part(of.before, of.steps[s].ends)) order(s, " requires ", before);
      for (const step_index before : shape::part(of.before, of.steps[s].begins)) order(s, " irequires ", before);
    }
    return text_ + "}\n";
  }

 private:
  void order(step_index step, const char* after, step_index before) {
    text_ += label(step) + after + label(before) + "\n";
  }

  void statement(step_index index, const shape::step& step) {
    const operation what = all_.describe(rank_, index);
    const std::string processor = what.cpu == 0 ? "" : " cpu " + std::to_string(what.cpu);
    text_ += label(index) + ": ";
    if (is_message(what.kind)) {
      text_ += (what.kind == operation_kind::send ? "send " : "recv ") +
               std::to_string(goal_bytes(all_, rank_, index)) +
               (what.kind == operation_kind::send ? "b to " : "b from ") + std::to_string(what.peer) + " tag " +
               std::to_string(all_.is_goal() ? what.tag : step.ordinal) + processor;
      if (what.nic != 0) text_ += " nic " + std::to_string(what.nic);
    } else {
      text_ += "calc " + std::to_string(goal_time(all_, rank_, index, compute_per_byte_)) + processor;
    }
    text_ += "\n";
  }

  const workload& all_;
  int rank_;
  double compute_per_byte_;
  std::string text_;
};

}  // namespace

void write_goal(const workload& all, double compute_per_byte, const std::function<void(std::string_view text)>& write) {
  write("num_ranks " + std::to_string(all.ranks()) + "\n");
  for (int rank = 0; rank < all.ranks(); ++rank) write("\n" + rank_text(all, rank, compute_per_byte).text());
}

std::string to_goal(const workload& all, double compute_per_byte) {
  std::string text;
  write_goal(all, compute_per_byte, [&](std::string_view more) { text += more; });
  return text;
}

}  // namespace weft::simulator
