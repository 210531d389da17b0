// SPDX-License-Identifier: Apache-2.0
#include "consensus.hpp"

#include <algorithm>
#include <utility>
#include <weft/fabric/wire_bytes.hpp>

namespace weft::fabric {

consensus::consensus(setup what)
    : self_(what.self),
      gone_(std::move(what.gone)),
      combine_(std::move(what.combine)),
      send_(std::move(what.send)),
      reports_(gone_.size()) {
  of(self_) = report{kind::given, nobody, std::move(what.given)};
  if (coordinator() == self_)
    coordinate();
  else
    report_to(coordinator());
}

int consensus::coordinator() const noexcept {
  int first = 0;
  while (first != self_ && is_gone(first)) ++first;
  return first;
}

consensus::bytes consensus::absence() { return {static_cast<std::byte>(kind::absent)}; }

void consensus::send(int to, kind what, int ballot, std::span<const std::byte> value) const {
  bytes message;
  message.reserve(1 + sizeof(std::uint32_t) + value.size());
  put(message, static_cast<std::uint8_t>(what));
  put(message, static_cast<std::uint32_t>(ballot));
  put(message, value);
  send_(to, message);
}

bool consensus::take(int from, std::span<const std::byte> message) {
  byte_reader reader(message);
  const auto what = static_cast<kind>(reader.number<std::uint8_t>());
  if (!reader.good()) return false;
  const int ballot = what == kind::absent ? nobody : static_cast<int>(reader.number<std::uint32_t>());
  if (!reader.good() || ballot < nobody || ballot >= members()) return false;
  const auto rest = reader.rest();
  bytes value(rest.begin(), rest.end());
  switch (what) {
    case kind::accepted:
      if (ballot == nobody || (ballot == self_ && !proposal_)) return false;
      [[fallthrough]];  // what this one has proposed comes back without its contents
    case kind::given:
      take_report(from, {what, what == kind::accepted ? ballot : nobody, std::move(value)});
      return true;
    case kind::decided:
      of(from) = report{what, nobody, {}};
      decide(std::move(value));
      return true;
    case kind::propose:
      if (decision_) return report_to(from), true;
      if (from < promised_) return true;  // it is dead, as a later coordinator knows, which has asked this one
      of(self_) = report{kind::accepted, from, std::move(value)};
      report_to(from);
      return true;
    case kind::confirm:
      if (const report& own = *of(self_); own.state == kind::accepted && own.ballot == from) decide(bytes(own.value));
      return true;
    case kind::question:
      report_to(from);
      return true;
    case kind::absent:
      lose(from);
      return true;
  }
  return false;
}

void consensus::report_to(int coordinator) {
  promised_ = std::max(promised_, coordinator);
  if (decision_) return send(coordinator, kind::decided, nobody, *decision_);
  const report& own = *of(self_);
  send(coordinator, own.state, own.ballot, own.ballot == coordinator ? std::span<const std::byte>() : own.value);
}

void consensus::take_report(int from, report its) {
  of(from) = std::move(its);
  if (decision_)
    answer(from);
  else if (proposal_ && of(from)->ballot != self_ && !is_gone(from))
    send(from, kind::propose, nobody, *proposal_);  // for want of memory it may not have been sent
  else if (coordinator() == self_)
    coordinate();
}

void consensus::answer(int member) {
  const report& its = *of(member);
  if (its.state == kind::accepted && its.ballot == self_)
    send(member, kind::confirm);
  else
    send(member, kind::decided, nobody, *decision_);
}

void consensus::lose(int member) {
  if (member == self_ || is_gone(member)) return;
  const int before = coordinator();
  gone_[static_cast<std::size_t>(member)] = true;
  if (decision_) return;
  const int now = coordinator();
  if (now == self_)
    coordinate();
  else if (now != before)
    report_to(now);
}

/// Whether the next step of the coordinator, this one, waits for that member.
bool consensus::waits_for(int member) {
  if (is_gone(member)) return false;
  const auto& its = of(member);
  return !its || (proposal_ && its->ballot != self_);
}

void consensus::ask_all() {
  for (int each = 0; each < members(); ++each)
    if (each != self_ && waits_for(each)) send(each, kind::question);
}

void consensus::remind() {
  if (decision_) return;
  if (coordinator() != self_) return report_to(coordinator());
  coordinate();
  if (!decision_) ask_all();
}

void consensus::coordinate() {
  promised_ = std::max(promised_, self_);
  if (self_ != 0 && !std::exchange(asked_, true)) ask_all();  // they may have reported to those before
  const auto all_have = [&] {
    for (int each = 0; each < members(); ++each)
      if (waits_for(each)) return false;
    return true;
  };
  if (!all_have()) return;
  if (!proposal_) {
    propose();
    if (!all_have()) return;
  }
  decide(bytes(*proposal_));
}

void consensus::propose() {
  bytes value = choose();
  report own{kind::accepted, self_, value};
  of(self_) = std::move(own);  // from here on nothing throws until both are set
  proposal_ = std::move(value);
  for (int each = 0; each < members(); ++each)
    if (each != self_ && !is_gone(each)) send(each, kind::propose, nobody, *proposal_);
}

/// What may have been decided, if anything may; else a new value.
consensus::bytes consensus::choose() {
  const report* latest = nullptr;
  for (const auto& each : reports_)
    if (each && each->state == kind::accepted && (latest == nullptr || each->ballot > latest->ballot)) latest = &*each;
  if (latest != nullptr) return latest->value;
  std::vector<std::optional<bytes>> given(reports_.size());
  for (int each = 0; each < members(); ++each)
    if (!is_gone(each)) given[static_cast<std::size_t>(each)] = of(each)->value;
  return combine_(given);
}

void consensus::decide(bytes value) {
  if (decision_) return;
  decision_ = std::move(value);
  for (auto& each : reports_)
    if (each) each->value = {};  // nobody needs it any more
  for (int each = 0; each < members(); ++each)
    if (each != self_ && !is_gone(each) && of(each) && of(each)->state != kind::decided) answer(each);
}

}  // namespace weft::fabric
