// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/schedules/step_names.hpp>
#include <weft/simulator/simulate.hpp>

#include "job.hpp"

namespace weft::tools {
namespace {

constexpr std::size_t most_columns = 120;

struct message {
  int round, from, to;
  std::string blocks;
};

/// Hears of every message, when it starts.
class messages_seen final : public simulator::observer {
 public:
  explicit messages_seen(std::vector<simulator::activity>& into) : into_(into) {}
  void happened(const simulator::activity& what) override {
    if (what.kind == simulator::activity_kind::transfer) into_.push_back(what);
  }

 private:
  std::vector<simulator::activity>& into_;
};

std::string in_brackets(const schedules::schedule& of, schedules::step_index step) {
  const std::string text = blocks_of(of, step);
  if (text.empty()) return text;
  const bool offered = of.steps.at(step).kind == schedules::step_kind::notify;
  return offered ? "(" + text + ")" : "[" + text + "]";
}

std::vector<message> drawn(const std::vector<round_message>& all, const std::vector<schedules::schedule>& ranks) {
  std::vector<message> messages;
  for (const round_message& one : all)
    messages.push_back({one.round, one.from, one.to, in_brackets(ranks[static_cast<std::size_t>(one.from)], one.step)});
  return messages;
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}
std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string cell(const message& of) {
  return "-> " + std::to_string(of.to) + (of.blocks.empty() ? "" : " ") + of.blocks;
}

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

std::string columns(const std::vector<message>& messages, int ranks, int rounds, std::size_t width) {
  std::string text = "round";
  for (int rank = 0; rank < ranks; ++rank) text += "  " + left("rank " + std::to_string(rank), width);
  end_line(text);
  auto next = messages.begin();
  for (int round = 0; round < rounds; ++round) {
    text += right(std::to_string(round), 5);
    for (int rank = 0; rank < ranks; ++rank) {
      const bool sends = next != messages.end() && next->round == round && next->from == rank;
      text += "  " + left(sends ? cell(*next++) : "", width);
    }
    end_line(text);
  }
  return text;
}

std::string lines(const std::vector<message>& messages) {
  std::string text = "round   from -> to\n";
  for (const message& one : messages) {
    text += right(std::to_string(one.round), 5) + right(std::to_string(one.from), 7) + " " + cell(one);
    end_line(text);
  }
  return text;
}

}  // namespace

std::vector<round_message> messages_of(const plan_job& job) {
  simulator::machine_model model;
  model.ports = simulator::port_model::one;
  model.latency = 1;
  std::vector<simulator::activity> seen;
  messages_seen observer(seen);
  simulator::simulate(simulator::workload_of(*job.how, job.shape, 1), model, nullptr, &observer);
  std::vector<round_message> messages;
  for (const simulator::activity& one : seen)
    messages.push_back({static_cast<int>(std::lround(one.start)), one.rank, one.peer, one.step});
  std::sort(messages.begin(), messages.end(), [](const round_message& a, const round_message& b) {
    return std::tie(a.round, a.from, a.to) < std::tie(b.round, b.from, b.to);
  });
  return messages;
}

std::string blocks_of(const schedules::schedule& of, schedules::step_index step) {
  std::string text;
  for (const schedules::segment& part : of.sources_of(of.steps.at(step)))
    text += (text.empty() ? "" : " ") + text_of(part.elements);
  return text;
}

std::string draw_rounds(const plan_job& job) {
  std::vector<schedules::schedule> ranks;
  const auto steps = steps_of(job);
  for (int rank = 0; rank < job.shape.ranks; ++rank)
    ranks.push_back(schedules::built_by([&](schedules::sink& to) { steps(rank, to); }));
  const std::vector<message> messages = drawn(messages_of(job), ranks);
  const int rounds = messages.empty() ? 0 : messages.back().round + 1;
  std::size_t width = 7;
  for (const message& one : messages) width = std::max(width, cell(one).size());
  std::string text = heading(job) + ", " + std::to_string(rounds) + (rounds == 1 ? " round" : " rounds");
  if (job.how->kind != schedules::collective::barrier) {
    const schedules::layout& cut = ranks.front().cut;
    text += "; in brackets blocks of " + std::to_string(cut.chunks) + " x " + std::to_string(cut.segments);
  }
  text += '\n';
  if (messages.empty()) return text;
  const bool fits = 5 + static_cast<std::size_t>(job.shape.ranks) * (width + 2) <= most_columns;
  return text + (fits ? columns(messages, job.shape.ranks, rounds, width) : lines(messages));
}

}  // namespace weft::tools
