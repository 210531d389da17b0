// SPDX-License-Identifier: Apache-2.0
#include "kept_desk.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>
#include <weft/roll_call/ask.hpp>
#include <weft/roll_call/summary.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/roll_line.hpp>

namespace weft::tools {
namespace {

constexpr const char* own_name = "kept";

/// Each is stopped for a moment; and of a job that computes for long on many ranks a few say it all.
constexpr std::size_t most_shown = 8;

}  // namespace

kept_desk::kept_desk(event_loop& loop, roll_taker& rolls, roll_range whose, sink& shows)
    : loop_(loop),
      rolls_(rolls),
      whose_(std::move(whose)),
      shows_(shows),
      listener_(listen_for_askers(whose_.job, own_name)) {
  if (listener_) loop_.watch(listener_.get(), EPOLLIN, [this] { receive(); });
}

kept_desk::~kept_desk() {
  if (listener_) loop_.forget(listener_.get());
}

std::string kept_desk::name() const { return listener_ ? roll_socket_name(whose_.job, own_name) : std::string(); }

void kept_desk::receive() {
  if (!accept_asker(listener_)) return;
  again_ = true;
  if (looking_ == 0) look();
}

/// Where a roll cannot be taken, as without a descriptor, nobody is shown.
void kept_desk::take(roll_range of, bool stacks, void (kept_desk::*use)(const std::vector<roll_process>&)) {
  ++looking_;
  try {
    rolls_.take(std::move(of), stacks, [this, use](const std::string& text) {
      --looking_;
      (this->*use)(parse_roll(text));
      if (looking_ == 0 && again_) look();
    });
  } catch (const error&) {
    --looking_;
  }
}

void kept_desk::look() {
  again_ = false;
  if (shown_.size() < most_shown) take(whose_, false, &kept_desk::find);
}

void kept_desk::find(const std::vector<roll_process>& roll) {
  std::size_t found = shown_.size();
  for (const roll_process& process : roll)
    if (std::ranges::any_of(process.ranks, [this](const roll_rank& rank) { return is_new(rank); }) &&
        found++ < most_shown)
      take({whose_.job, process.number, 1}, true, &kept_desk::show);
}

/// Whether it keeps its thread, and is not known to have done so all the time since it was shown.
bool kept_desk::is_new(const roll_rank& its) {
  const auto known = shown_.find(its.rank);
  return its.keeps > 0 && (known == shown_.end() || its.keeps < known->second);
}

void kept_desk::show(const std::vector<roll_process>& roll) {
  for (const roll_process& process : roll)
    for (const roll_rank& rank : process.ranks) {
      if (!is_new(rank) || rank.frames.empty()) continue;
      shown_[rank.rank] = rank.keeps;
      shows_.put("weft run: rank " + std::to_string(rank.rank) + " (pid " + std::to_string(process.pid) + ", host " +
                 process.host + ") keeps its thread here:\n" + stack_text(rank));
    }
}

}  // namespace weft::tools
