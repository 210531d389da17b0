// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::fabric {

verdict::verdict(setup what)
    : self_(what.self),
      timeout_(what.timeout),
      heartbeat_(what.heartbeat),
      window_(what.heartbeat * 3 / 2),
      flood_(std::move(what.flood)),
      heard_(static_cast<std::size_t>(what.processes)),
      gone_(heard_.size()),
      random_(what.seed) {
  own_.members.assign(heard_.size(), true);
  for (heard_vote& each : heard_) each.said.members = own_.members;
  said_ = own_;
}

void verdict::hear(hearing around, time_point now) {
  own_.around = std::move(around);
  advance(now);
}

bool verdict::take(int from, std::uint64_t sequence, std::span<const std::byte> said, time_point now) {
  heard_vote& known = heard_[index(from)];
  if (over_ || from == self_ || sequence <= known.sequence || !goes_on(from)) return false;
  known = {sequence, open_ && fresh(from) ? known.first : now, now, decode_vote(said, processes())};
  advance(now);
  return true;
}

void verdict::lose(int process, time_point now) {
  gone_[index(process)] = true;
  advance(now);
}

void verdict::postpone(clock::duration time) {
  if (!open_) return;
  opened_ += time;
  ballot_begun_ += time;
  next_look_ += time;
  for (heard_vote& each : heard_)
    if (each.sequence > 0) {
      each.first += time;
      each.when += time;
    }
}

std::vector<verdict::numbered_vote> verdict::everything() const {
  std::vector<numbered_vote> result;
  if (sequence_ > 0) result.push_back({self_, sequence_, encode(said_)});
  for (int process = 0; process < processes(); ++process)
    if (const heard_vote& each = heard_[index(process)]; each.sequence > 0 && goes_on(process))
      result.push_back({process, each.sequence, encode(each.said)});
  return result;
}

const vote& verdict::said_by(int process) const noexcept {
  return process == self_ ? own_ : heard_[index(process)].said;
}

/// Whether `process` is one of those of whom more than half are needed.
bool verdict::counts(int process) const noexcept {
  if (!goes_on(process)) return false;
  const vote& its = said_by(process);
  return !gone_[index(process)] || (its.view == own_.view && its.promised.round > 0);
}

bool verdict::lives(int process) const noexcept { return goes_on(process) && !gone_[index(process)]; }

/// Whether `process` has said something in this vote. Its word may have been here a little before what opened the vote.
bool verdict::fresh(int process) const noexcept {
  if (process == self_) return true;
  const heard_vote& its = heard_[index(process)];
  return lives(process) && its.sequence > 0 && its.when >= opened_ - heartbeat_;
}

bool verdict::held(int process, time_point now) const {
  for (int other = 0; other < processes(); ++other) {
    const bool lately = other == self_ || (fresh(other) && (open_ || now < heard_[index(other)].when + timeout_));
    if (lately && std::ranges::binary_search(said_by(other).around.held, process)) return true;
  }
  return false;
}

bool verdict::is_quorum(const set& some) const {
  std::size_t all = 0;
  std::size_t in = 0;
  int lowest = -1;
  for (int process = processes() - 1; process >= 0; --process) {
    if (!counts(process)) continue;
    ++all;
    if (some[index(process)]) ++in;
    lowest = process;
  }
  return 2 * in > all || (2 * in == all && lowest >= 0 && some[index(lowest)]);
}

/// Whether there is anything to decide: somebody does not hear another one, or has accepted what may be decided.
bool verdict::disputed(time_point now) const {
  for (int process = 0; process < processes(); ++process) {
    const vote& its = said_by(process);
    if (goes_on(process) && its.view == own_.view && its.accepted.round > 0) return true;
    if (!lives(process)) continue;
    if (std::ranges::any_of(its.around.silent, [&](int other) { return lives(other) && !held(other, now); }))
      return true;
  }
  return false;
}

void verdict::advance(time_point now) {
  if (over_) return;
  const std::uint32_t view = own_.view;
  const ballot promised = own_.promised;
  adopt();
  promise();
  accept();
  decide();
  if (own_.promised != promised) ballot_begun_ = now;
  over_ = !goes_on(self_);
  open_or_close(now, own_.view != view);
  if (open_ && !has_sought_ && now >= opened_ + heartbeat_ / 2) seek();
  if (open_ && !over_ && now >= opened_ + window_) {
    lead(now);
    consider_giving_up(now);
  }
}

/// The verdicts that another one knows.
void verdict::adopt() {
  const vote* latest = &own_;
  for (int process = 0; process < processes(); ++process)
    if (goes_on(process) && said_by(process).view > latest->view) latest = &said_by(process);
  if (latest != &own_) begin_view(latest->view, set(latest->members));
}

void verdict::promise() {
  for (int process = 0; process < processes(); ++process)
    if (goes_on(process) && said_by(process).view == own_.view)
      own_.promised = std::max(own_.promised, said_by(process).promised);
}

/// What somebody has accepted was proposed; from whom one knows it does not matter.
void verdict::accept() {
  for (int process = 0; process < processes(); ++process) {
    const vote& its = said_by(process);
    if (!goes_on(process) || its.view != own_.view || its.accepted <= own_.accepted || its.accepted < own_.promised)
      continue;
    own_.accepted = its.accepted;
    own_.chosen = its.chosen;
  }
}

void verdict::decide() {
  if (own_.accepted.round == 0) return;
  set agreed(own_.members.size());
  for (int process = 0; process < processes(); ++process)
    agreed[index(process)] = said_by(process).view == own_.view && said_by(process).accepted == own_.accepted;
  if (is_quorum(agreed)) begin_view(own_.view + 1, std::exchange(own_.chosen, {}));
}

void verdict::begin_view(std::uint32_t view, set members) {
  own_.view = view;
  own_.members = std::move(members);
  own_.promised = own_.accepted = {};
  own_.chosen.clear();
}

/// And says what is new. `anew`: in another view, so that what was said and waited for before does not count.
void verdict::open_or_close(time_point now, bool anew) {
  const bool was_open = std::exchange(open_, !over_ && disputed(now));
  if (open_ && (!was_open || anew)) {
    opened_ = ballot_begun_ = now;
    has_sought_ = false;
  }
  next_look_ = open_ ? now + heartbeat_ / 4 : time_point::max();
  for (const auto due : {opened_ + heartbeat_ / 2, opened_ + window_})
    if (open_ && now < due) next_look_ = std::min(next_look_, due);
  say(open_ && !was_open);
}

/// `anew`: even if it is the same as before, since others wait to hear this process.
void verdict::say(bool anew) {
  const bool changed = own_.view != said_.view || own_.around.silent != said_.around.silent || open_;
  if (!anew && (!changed || own_ == said_)) return;
  said_ = own_;
  flood_(++sequence_, encode(said_));
}

/// Of many a few at random: some of them are on this side, and others of this side seek, too.
void verdict::seek() {
  has_sought_ = true;
  std::vector<int> unheard;
  for (int process = 0; process < processes(); ++process)
    if (lives(process) && !fresh(process)) unheard.push_back(process);
  sought_.clear();
  std::ranges::sample(unheard, std::back_inserter(sought_), most_sought, random_);
}

std::vector<int> verdict::take_sought() { return std::exchange(sought_, {}); }

void verdict::lead(time_point now) {
  if (my_turn(now)) {
    own_.promised = {own_.promised.round + 1, static_cast<std::uint32_t>(self_)};
    ballot_begun_ = now;
    say(false);
  }
  if (own_.promised.proposer == static_cast<std::uint32_t>(self_) && own_.promised.round > 0 &&
      own_.accepted != own_.promised)
    propose(now);
}

/// The lowest that is heard begins; where that leads to nothing, because it does not hear the others, the next ones do.
bool verdict::my_turn(time_point now) const {
  int lower = 0;
  for (int process = 0; process < self_; ++process) lower += fresh(process) ? 1 : 0;
  if (own_.promised.round == 0) return now >= opened_ + window_ + lower * heartbeat_ / 2;
  const bool own = own_.promised.proposer == static_cast<std::uint32_t>(self_);
  if (own && own_.accepted != own_.promised) return false;  // waits for promises
  return now >= ballot_begun_ + heartbeat_ * 2 + lower * heartbeat_ / 2;
}

void verdict::propose(time_point now) {
  set promised(own_.members.size());
  for (int process = 0; process < processes(); ++process)
    promised[index(process)] =
        lives(process) && said_by(process).view == own_.view && said_by(process).promised == own_.promised;
  if (!is_quorum(promised)) return;
  const set heard = heard_by(promised);
  for (int process = 0; process < processes(); ++process)
    if (lives(process) && heard[index(process)] && !promised[index(process)] && !held(process, now))
      return;  // its promise will come
  if (may_hear_again(promised, now)) return;
  set chosen = choose(promised, now);
  if (chosen == own_.members) return;  // they hear each other again
  own_.accepted = own_.promised;
  own_.chosen = std::move(chosen);
  say(false);
  advance(now);  // it may be decided already
}

/// Whether some say that they do not hear one that has only begun to speak in this vote: it may have been held until
/// now, and they would take that back.
bool verdict::may_hear_again(const set& some, time_point now) const {
  for (int process = 0; process < processes(); ++process) {
    if (!some[index(process)]) continue;
    for (const int other : said_by(process).around.silent)
      if (some[index(other)] && other != self_ && now < heard_[index(other)].first + heartbeat_) return true;
  }
  return false;
}

/// What may have been decided stays so; else those that have promised go on, and those that cannot because they are
/// held.
verdict::set verdict::choose(const set& promised, time_point now) const {
  const vote* latest = &own_;
  for (int process = 0; process < processes(); ++process)
    if (promised[index(process)] && said_by(process).accepted > latest->accepted) latest = &said_by(process);
  if (latest->accepted.round > 0) return latest->chosen;
  set result = promised;
  remove_deaf(result, now);
  for (int process = 0; process < processes(); ++process)
    if (goes_on(process) && (gone_[index(process)] || held(process, now)))
      result[index(process)] = true;  // how those that are gone ended is known otherwise
  return result;
}

/// Of each two that do not hear each other on their own connection one goes, and as few as possible.
void verdict::remove_deaf(set& some, time_point now) const {
  for (;;) {
    std::vector<int> troubles(some.size());
    for (int process = 0; process < processes(); ++process) {
      if (!some[index(process)]) continue;
      for (const int other : said_by(process).around.silent) {
        if (!some[index(other)] || held(process, now) || held(other, now)) continue;
        ++troubles[index(process)];
        ++troubles[index(other)];
      }
    }
    const auto worst = std::ranges::max_element(troubles.rbegin(), troubles.rend());
    if (*worst == 0) return;
    some[static_cast<std::size_t>(troubles.rend() - worst - 1)] = false;
  }
}

/// Whom some of those hear by a connection of their own, which itself does not say that it hears them no more.
verdict::set verdict::heard_by(const set& some) const {
  set result(some.size());
  for (int process = 0; process < processes(); ++process) {
    if (!some[index(process)]) continue;
    for (const int other : said_by(process).around.hears)
      if (!fresh(other) || !std::ranges::binary_search(said_by(other).around.silent, process))
        result[index(other)] = true;
  }
  return result;
}

/// Those that others hear have still to speak, or fall silent.
void verdict::consider_giving_up(time_point now) {
  if (over_ || !open_ || now < opened_ + window_) return;
  set spoken(own_.members.size());
  for (int process = 0; process < processes(); ++process) spoken[index(process)] = fresh(process);
  const set heard = heard_by(spoken);
  bool waits = false;
  for (int process = 0; process < processes(); ++process)
    waits = waits || (lives(process) && heard[index(process)] && !spoken[index(process)] && !held(process, now));
  over_ = (!waits && !is_quorum(spoken)) || now >= opened_ + window_ + timeout_ + heartbeat_ * 2;
}

}  // namespace weft::fabric
