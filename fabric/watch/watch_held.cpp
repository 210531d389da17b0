// SPDX-License-Identifier: Apache-2.0
// Processes that are silent because something holds them: a signal has stopped them, or a debugger has them. On their
// host the system says so to whoever looks. Elsewhere whoever does not hear one asks, and any other process of its host
// answers:
//
//   who does not hear P            everybody               on P's host
//     ask P, n               ->      passes it on     ->     looks
//     hears P as of now      <-      passes it on     <-     held P, n
//
// Who does not hear one looks, or asks, every quarter of the timeout: so one that is let go has three quarters of it
// left to be heard. In a vote (watch_votes.cpp) each process says of itself who of its host is held. Where all of a
// host are held nobody answers, and they are lost like any others that are silent.
#include <algorithm>

#include "process_handle.hpp"
#include "watch.hpp"

namespace weft::fabric {

bool watch::is_held_here(int process) const {
  const auto& all = setup_.all;
  return is_held(all[static_cast<std::size_t>(process)], all[static_cast<std::size_t>(setup_.process)]);
}

/// For how long a process is silent until somebody looks why, and between two looks.
std::chrono::milliseconds watch::time_to_ask() const noexcept { return options_.heartbeat * 5 / 2; }

/// When to ask about a process that is not heard since then.
watch::clock::time_point watch::ask_at(int process, clock::time_point since) const {
  if (!news_.alive(process)) return clock::time_point::max();
  const auto known = questions_.find(process);
  const auto first = since + time_to_ask();
  return known == questions_.end() ? first : std::max(first, known->second.next);
}

void watch::ask_about(int process, clock::time_point now) {
  question& its = questions_[process];
  its.next = now + time_to_ask();
  pass_on(encode(control_message{
              .kind = control_kind::ask, .process = static_cast<std::uint32_t>(process), .sequence = ++its.asked}),
          nullptr);
}

void watch::take_question(control_link& from, const control_message& message) {
  const int process = static_cast<int>(message.process);
  question& its = questions_[process];
  if (message.sequence <= its.asked || !news_.alive(process)) return;
  its.asked = message.sequence;
  const auto now = clock::now();
  its.next = std::max(its.next, now + time_to_ask());  // another one's question does for this one, too
  pass_on(encode(message), &from);
  if (!is_held_here(process)) return;
  its.answered = message.sequence;
  forgive_silence(process, now);
  pass_on(encode(control_message{.kind = control_kind::held, .process = message.process, .sequence = message.sequence}),
          nullptr);
}

void watch::take_answer(control_link& from, const control_message& message) {
  const int process = static_cast<int>(message.process);
  question& its = questions_[process];
  if (message.sequence <= its.answered || !news_.alive(process)) return;
  its.answered = message.sequence;
  pass_on(encode(message), &from);
  forgive_silence(process, clock::now());
}

/// For a vote, which takes long beside a look at the state of each process of this host.
const std::vector<int>& watch::held_here(clock::time_point now) {
  if (now < looked_at_held_here_ + options_.heartbeat / 2) return held_here_;
  looked_at_held_here_ = now;
  held_here_.clear();
  for (int process = 0; process < news_.processes(); ++process)
    if (process != setup_.process && on_this_host(process) && news_.alive(process) && is_held_here(process))
      held_here_.push_back(process);
  return held_here_;
}

/// Those of whom a vote has said so.
void watch::forgive_held(clock::time_point now) {
  std::vector<int> held;
  for (const auto& [process, why] : silent_)
    if (verdict_.held(process, now)) held.push_back(process);
  for (const int process : held) forgive_silence(process, now);
}

/// As if it had just been heard. It gets no heartbeats meanwhile, which it would leave where they are until no more
/// fit.
void watch::forgive_silence(int process, clock::time_point now) {
  for (const auto& [id, link] : links_)
    if (link->peer == process && link->at == stage::standing) {
      link->heard = now;
      link->held = true;
    }
  if (const auto target = targets_.find(process); target != targets_.end())
    target->second.give_up = now + patience_with(process);
  silent_.erase(process);
}

}  // namespace weft::fabric
