// SPDX-License-Identifier: Apache-2.0
// Processes of other hosts that are silent and may live, and what is decided about them (verdict.hpp).
//
// On the same host no network lies between two processes: who is silent there, and not held (watch_held.cpp), is lost
// without a vote.
// While a job starts nobody goes on without the others, so there is nothing to vote on.
#include <algorithm>
#include <vector>

#include "watch.hpp"

namespace weft::fabric {

bool watch::on_this_host(int process) const {
  const host_identity& its = setup_.all[static_cast<std::size_t>(process)].host;
  return !its.node.empty() && its.node == setup_.all[static_cast<std::size_t>(setup_.process)].host.node;
}

/// How long `process` may be silent until it is lost or, where that is voted on, reported: the vote ends with the
/// timeout.
std::chrono::milliseconds watch::patience_with(int process) const {
  const bool joining = joining_.load(std::memory_order_relaxed);  // relaxed: see all_joined()
  if (on_this_host(process) || joining) return options_.peer_timeout;
  return options_.peer_timeout - verdict::time_to_decide(options_.heartbeat);
}

/// A standing connection.
watch::clock::time_point watch::silent_at(const control_link& link) const {
  return link.heard + patience_with(link.peer);
}

/// On any of its connections.
bool watch::hears(int process, clock::time_point now) const {
  return std::ranges::any_of(links_, [&](const auto& link) {
    return link.second->peer == process && link.second->at == stage::standing && now < silent_at(*link.second);
  });
}

/// `process` may live, but is not heard on one of its connections, or has none.
void watch::fell_silent(int process, const std::string& why) {
  if (leaving_ || given_up_ || !news_.alive(process)) return;
  const bool joining = joining_.load(std::memory_order_relaxed);  // relaxed: see all_joined()
  const auto now = clock::now();
  const auto target = targets_.find(process);
  if (target != targets_.end()) target->second.give_up = now + options_.peer_timeout;  // it may answer again
  if (target != targets_.end() && target->second.sought && !linked(process)) return;
  if (is_held_here(process)) return forgive_silence(process, now);
  if (on_this_host(process) || joining) return declare_lost(process, why);
  if (!hears(process, now)) silent_.try_emplace(process, why);
}

hearing watch::listen_around(clock::time_point now) {
  std::vector<bool> heard(setup_.all.size());
  for (const auto& [id, link] : links_)
    if (link->at == stage::standing && now < silent_at(*link)) heard[static_cast<std::size_t>(link->peer)] = true;
  for (const auto& [process, target] : targets_)
    if (target.expected && !linked(process)) heard[static_cast<std::size_t>(process)] = true;
  hearing result;
  for (const auto& [process, why] : silent_) {
    heard[static_cast<std::size_t>(process)] = false;
    result.silent.push_back(process);
  }
  for (int process = 0; process < news_.processes(); ++process)
    if (heard[static_cast<std::size_t>(process)] && news_.alive(process)) result.hears.push_back(process);
  result.held = held_here(now);
  return result;
}

void watch::report_hearing(clock::time_point now) {
  if (leaving_ || given_up_) return;
  std::erase_if(silent_, [&](const auto& each) { return hears(each.first, now); });
  forgive_held(now);
  if (!verdict_.open()) stop_seeking();
  if (silent_.empty() && !verdict_.open()) return;
  verdict_.hear(listen_around(now), now);
  obey_verdict();
  seek();
}

/// Connects to those that are not heard: some may be so far only because no connection leads to them on this side.
void watch::seek() {
  for (const int process : verdict_.take_sought())
    if (news_.alive(process) && !targets_.contains(process) && !linked(process)) begin_watching(process).sought = true;
}

/// But for a connection on which this process has proven itself: it may stand at the other end already, where its end
/// would look like a death.
void watch::stop_seeking() {
  std::erase_if(targets_, [this](const auto& target) {
    if (!target.second.sought || linked(target.first)) return false;
    const auto link = links_.find(target.second.link);
    if (link != links_.end() && link->second->at == stage::confirming) return false;
    if (link != links_.end()) link->second->at = stage::over;
    return true;
  });
}

void watch::take_vote(control_link& from, const control_message& message) {
  if (leaving_) return;
  const auto now = clock::now();
  if (!verdict_.open()) verdict_.hear(listen_around(now), now);
  if (!verdict_.take(static_cast<int>(message.process), message.sequence, message.bytes, now)) return;
  pass_on(encode(message), &from);
  obey_verdict();
}

void watch::flood_vote(std::uint64_t sequence, std::span<const std::byte> said) {
  pass_on(encode(control_message{.kind = control_kind::vote,
                                 .process = static_cast<std::uint32_t>(setup_.process),
                                 .sequence = sequence,
                                 .bytes = said}),
          nullptr);
}

void watch::repeat_votes(control_link& link) const {
  for (const auto& [process, sequence, said] : verdict_.everything())
    link.send(encode(control_message{.kind = control_kind::vote,
                                     .process = static_cast<std::uint32_t>(process),
                                     .sequence = sequence,
                                     .bytes = said}));
}

void watch::obey_verdict() {
  if (leaving_ || given_up_) return;
  if (verdict_.over()) {
    const bool decided = !verdict_.goes_on(setup_.process);
    return take_lost(setup_.process,
                     name_of(setup_.process) + (decided ? ": the others do not reach it, and go on without it"
                                                        : ": it is cut off from processes that may go on without it"),
                     nullptr);
  }
  if (obeyed_ == verdict_.verdicts()) return;
  obeyed_ = verdict_.verdicts();
  for (int process = 0; process < news_.processes(); ++process)
    if (!verdict_.goes_on(process) && news_.alive(process)) exclude(process);
}

/// All know the verdict by themselves. The excluded one is told on its connections, which stay open for that: a closed
/// one would answer it like a dead process.
void watch::exclude(int process) {
  const auto why = silent_.find(process);
  const std::string reason =
      name_of(process) + ": " + (why == silent_.end() ? "others do not hear it" : std::string(why->second)) +
      " (the processes that go on, process " + std::to_string(setup_.process) + " among them, have agreed on that)";
  news_.learn_lost(process, reason);
  for (const auto& [id, link] : links_) {
    if (link->peer != process) continue;
    if (link->at == stage::standing)
      link->finish();
    else if (link->at != stage::confirming)
      link->at = stage::over;
    update_polling(id, *link);
  }
  targets_.erase(process);
  silent_.erase(process);
  stale_ = true;
  if (setup_.events.lost) setup_.events.lost(process, reason);
}

/// `link` leads to one that was excluded, and may still be told.
bool watch::may_learn_verdict(const control_link& link, clock::time_point now) const {
  return news_.lost(link.peer) && now < link.heard + options_.peer_timeout * kept_silent;
}

}  // namespace weft::fabric
