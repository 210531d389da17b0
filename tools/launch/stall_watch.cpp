// SPDX-License-Identifier: Apache-2.0
#include "stall_watch.hpp"

#include <algorithm>
#include <utility>
#include <weft/roll_call/report.hpp>
#include <weft/roll_call/summary.hpp>

namespace weft::tools {
namespace {

/// By ranks: hosts answer in any order.
stall_watch::moves_by_rank moves_of(const std::vector<roll_process>& roll) {
  stall_watch::moves_by_rank moves;
  for (const roll_process& process : roll)
    for (const roll_rank& rank : process.ranks) moves[rank.rank] = {rank.phase, rank.moves};
  return moves;
}

std::string seconds_of(std::chrono::milliseconds time) {
  std::string text = std::to_string(std::chrono::duration<double>(time).count());
  text.erase(std::min(text.find_last_not_of('0') + 1, text.size()));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

stall_watch::stall_watch(event_loop& loop, job_processes& processes, std::chrono::milliseconds limit,
                         std::function<void(const std::string&)> say)
    : processes_(processes), limit_(limit), say_(std::move(say)), next_(loop, [this] { look(); }) {
  next_.set(clock::now() + limit_ / 4);
}

void stall_watch::look() {
  processes_.take_roll(false, [this](const std::string& roll) {
    take(roll);
    next_.set(clock::now() + limit_ / 4);
  });
}

void stall_watch::take(const std::string& text) {
  moves_by_rank moves = moves_of(parse_roll(text));
  if (moves != moves_) {
    moves_ = std::move(moves);
    since_ = clock::now();
    said_ = false;
  }
  if (moves_.empty() || clock::now() < since_ + limit_ || std::exchange(said_, true)) return;
  processes_.take_roll(true, [this](const std::string& roll) {
    say_("nothing has moved for " + seconds_of(limit_) + " s (--stuck-after)\n" + in_short(parse_roll(roll)));
  });
}

}  // namespace weft::tools
