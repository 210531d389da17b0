// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <weft/simulator/goal.hpp>

namespace weft::simulator {
namespace {

std::string label(step_index step) { return "l" + std::to_string(step); }

/// Whether the builder of the workload did without tags.
bool untagged(const workload& all) {
  for (int rank = 0; rank < all.ranks(); ++rank)
    for (const shape::step& s : all.of(rank).steps)
      if (is_message(s.kind) && all.to(rank, s).tag != 0) return false;
  return true;
}

class rank_text {
 public:
  rank_text(const workload& all, int rank, double compute_per_byte, bool tag_by_number)
      : all_(all), rank_(rank), compute_per_byte_(compute_per_byte), tag_by_number_(tag_by_number) {}

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
  double time_of_each(operation_kind kind) const {
    if (kind == operation_kind::calculate) return 1;
    return kind == operation_kind::fetch ? 0 : compute_per_byte_;
  }

  void order(step_index step, const char* after, step_index before) {
    text_ += label(step) + after + label(before) + "\n";
  }

  void statement(step_index index, const shape::step& step) {
    const operation what = all_.describe(rank_, index);
    const std::string processor = what.cpu == 0 ? "" : " cpu " + std::to_string(what.cpu);
    text_ += label(index) + ": ";
    if (is_message(what.kind)) {
      text_ += (what.kind == operation_kind::send ? "send " : "recv ") +
               std::to_string(std::max<std::uint64_t>(1, what.amount)) +
               (what.kind == operation_kind::send ? "b to " : "b from ") + std::to_string(what.peer) + " tag " +
               std::to_string(tag_by_number_ ? step.ordinal : what.tag) + processor;
      if (what.nic != 0) text_ += " nic " + std::to_string(what.nic);
    } else {
      const double time = static_cast<double>(what.amount) * time_of_each(what.kind);
      text_ += "calc " + std::to_string(std::llround(time)) + processor;
    }
    text_ += "\n";
  }

  const workload& all_;
  int rank_;
  double compute_per_byte_;
  bool tag_by_number_;
  std::string text_;
};

}  // namespace

void write_goal(const workload& all, double compute_per_byte, const std::function<void(std::string_view text)>& write) {
  write("num_ranks " + std::to_string(all.ranks()) + "\n");
  const bool tag_by_number = untagged(all);
  for (int rank = 0; rank < all.ranks(); ++rank)
    write("\n" + rank_text(all, rank, compute_per_byte, tag_by_number).text());
}

std::string to_goal(const workload& all, double compute_per_byte) {
  std::string text;
  write_goal(all, compute_per_byte, [&](std::string_view more) { text += more; });
  return text;
}

}  // namespace weft::simulator
