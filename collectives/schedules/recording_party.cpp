// SPDX-License-Identifier: Apache-2.0
#include "recording_party.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "emitter.hpp"
#include "layouts.hpp"

namespace weft::schedules {
namespace {

std::uint32_t narrow(std::size_t of) { return static_cast<std::uint32_t>(of); }

}  // namespace

recording_party::recording_party(const recorded_call& call)
    : call_(call),
      self_(static_cast<std::size_t>(call.rank)),
      cut_(layout_of(call.what, call.ranks, call.count)),
      last_(no_step),
      awaited_(static_cast<std::size_t>(call.ranks)),
      heard_(awaited_.size(), patterns::offers::nothing),
      operands_(awaited_.size()) {
  cut_.input = held(self_, buffer::input);
  cut_.output = held(self_, buffer::output);
  for (std::size_t m = 0; m < size(); ++m) {
    everyone_.push_back(m);
    if (call.first_of.empty()) continue;
    if (first_of(m) == self_) served_.push_back(m);
    if (first_of(m) == m) firsts_.push_back(m);
  }
}

block_set recording_party::held(std::size_t member, buffer in) const {
  return schedules::held(call_.what, cut_, call_.ranks, call_.root, static_cast<int>(member), in);
}

block_range recording_party::blocks_at(const place& of, std::size_t count) const {
  const auto member = of.owner == me ? self_ : static_cast<std::size_t>(of.owner);
  if (of.in == buffer::board && uses_shown_) return shown_blocks_at(member, of.at, count);
  if (has_slots(of.in)) return {};
  const block_set blocks = of.in != buffer::work ? held(member, of.in)
                           : apart_              ? held(member, buffer::input)
                                                 : cut_.work;
  return {blocks.at(narrow(of.at)), narrow(count)};
}

segment recording_party::segment_of(const place& of, block_range elements) const {
  return {of.owner, of.in, has_slots(of.in) ? narrow(of.at) : 0, elements};
}

void recording_party::check_in_round(const place& of, std::size_t count) const {
  if (of.in != buffer::board) return;
  const patterns::range& round = of.at < shown_.first ? before_ : shown_;
  if (of.at < round.first || of.at + count > round.first + round.count)
    throw std::logic_error("a pattern uses more of a slot than its round has room for");
}

void recording_party::add(recorded one) {
  if (last_ != no_step) one.after = {last_};
  const bool waits = one.kind != step_kind::notify;
  steps_.push_back(std::move(one));
  if (waits) last_ = narrow(steps_.size() - 1);
}

block_range recording_party::blocks_of(std::span<const place> all, std::size_t count) const {
  for (const place& each : all)
    if (const block_range blocks = blocks_at(each, count); blocks.count != 0) return blocks;
  throw std::logic_error("a pattern moves what is nobody's input or output");
}

void recording_party::make(std::span<const place> from, const place& to, block_range blocks) {
  check_in_round(to, blocks.count);
  recorded one{from.size() == 1 ? step_kind::copy : step_kind::combine, -1, {}, {segment_of(to, blocks)}};
  for (const place& each : from) {
    check_in_round(each, blocks.count);
    one.sources.push_back(segment_of(each, blocks));
  }
  add(std::move(one));
}

bool recording_party::begin(std::size_t count) {
  if (count > call_.room) throw std::logic_error("a pattern begins a round that shows more than a slot has room for");
  before_ = shown_;
  shown_ = {shown_.first + shown_.count, count};
  ++rounds_;
  std::fill(awaited_.begin(), awaited_.end(), false);
  return true;
}

void recording_party::copy(place from, place to, std::size_t count) {
  if (count != 0) make({&from, 1}, to, blocks_of(std::array{to, from}, count));
}

// What does not fit one combine is made apart, since the target may be the input of a rank that comes later.
void recording_party::combine(std::span<const place> from, place to, std::size_t count) {
  if (count == 0) return;
  std::vector<place> all(from.begin(), from.end());
  all.push_back(to);
  const block_range blocks = blocks_of(all, count);
  if (from.size() <= most_sources) return make(from, to, blocks);
  cut_.scratch_slots = 1;
  cut_.slot_blocks = std::max(cut_.slot_blocks, blocks.count);
  const place so_far{me, buffer::scratch, 0};
  std::vector<place> some(from.begin(), from.begin() + most_sources);
  for (std::size_t done = most_sources; done < from.size();) {
    make(some, so_far, blocks);
    some = {so_far};
    while (done < from.size() && some.size() < most_sources) some.push_back(from[done++]);
  }
  make(some, to, blocks);
}

recording_party::place recording_party::kept(patterns::range of) {
  if (takes_result(self_)) return output(of.first);
  cut_.work = block_range{narrow(of.first), narrow(of.count)};
  return {me, buffer::work, 0};
}

recording_party::place recording_party::given(std::size_t m, std::size_t at) const {
  if (uses_shown_ && !(but_own_ && first_of(m) == self_)) return shown_of(m) + at;
  return {owner(m), apart_ ? buffer::work : buffer::input, at};
}

bool recording_party::begin_showing(std::size_t each) {
  each_ = each;
  std::size_t most = 0;
  for (const std::size_t first : firsts_)
    most = std::max(most, static_cast<std::size_t>(std::ranges::count(call_.first_of, first)));
  return begin(most * each);
}

recording_party::place recording_party::shown_of(std::size_t m) const {
  const auto before =
      std::ranges::count(call_.first_of.begin(), call_.first_of.begin() + static_cast<std::ptrdiff_t>(m), first_of(m));
  return shown(first_of(m), static_cast<std::size_t>(before) * each_);
}

block_range recording_party::shown_blocks_at(std::size_t first, std::size_t at, std::size_t count) const {
  for (std::size_t m = 0; m < size(); ++m) {
    const std::size_t begin = shown_of(m).at;
    if (first_of(m) == first && at >= begin && at < begin + each_)
      return {held(m, buffer::input).at(narrow(at - begin)), narrow(count)};
  }
  return {};
}

void recording_party::use_shown(bool but_own) {
  uses_shown_ = true;
  but_own_ = but_own;
}

recording_party::asides::asides(recording_party& of) {
  of.cut_.scratch_slots = 2;
  of.cut_.slot_blocks = narrow(of.near());
}

void recording_party::apart(std::size_t count) {
  if (call_.what != collective::alltoall) return;
  cut_.work = cut_.input;
  for (std::size_t done = 0; done < count; done += call_.count)
    copy({me, buffer::input, done}, {me, buffer::work, done}, call_.count);
  apart_ = true;
}

std::vector<segment> recording_party::offered(std::size_t member, patterns::offers what) const {
  using patterns::offers;
  const auto whole = [&](buffer in) {
    const bool is_apart = apart_ && in == buffer::input;
    const block_set blocks = held(member, in);
    std::vector<segment> rows;
    for (std::uint32_t done = 0; done < blocks.count; done += blocks.run)
      rows.push_back({owner(member), is_apart ? buffer::work : in, 0, {blocks.at(done), blocks.run}});
    return rows;
  };
  switch (what) {
    case offers::nothing:
      return {};
    case offers::input:
      return whole(buffer::input);
    case offers::output:
      return whole(buffer::output);
    case offers::both: {
      std::vector<segment> all = whole(buffer::input);
      std::ranges::copy(whole(buffer::output), std::back_inserter(all));
      return all;
    }
    case offers::share:
      break;
  }
  const patterns::range its = patterns::share(*this, call_.count, member);
  return {
      {owner(member), takes_result(member) ? buffer::output : buffer::work, 0, {narrow(its.first), narrow(its.count)}}};
}

void recording_party::tell(patterns::offers what) { told_ = offered(self_, what); }

void recording_party::hear(std::size_t member, patterns::offers what) {
  heard_[member] = what;
  const auto from = [&](const recorded& each) {
    return each.kind == step_kind::await && each.peer == static_cast<int>(member);
  };
  std::ranges::find_if(steps_.rbegin(), steps_.rend(), from)->sources = offered(member, what);
}

bool recording_party::await(std::size_t member) {
  awaited_[member] = true;
  add({step_kind::await, static_cast<int>(member), {}, {}});
  return true;
}

bool recording_party::await_others() {
  for (std::size_t m = 0; m < size(); ++m)
    if (m != self_) await(m);
  return true;
}

void recording_party::end_with_all() const {
  for (std::size_t m = 0; m < size(); ++m)
    if (m != self_ && !awaited_[m])
      throw std::logic_error("a pattern ends a round as if all had been awaited, which were not");
}

bool recording_party::take(std::size_t member, std::size_t at, place to, std::size_t count) {
  if (count == 0) return true;
  const segment offer = offered(member, heard_[member]).front();
  const block_range blocks{offer.elements.first + narrow(at), narrow(count)};
  add({step_kind::copy, -1, {{offer.owner, offer.in, 0, blocks}}, {segment_of(to, blocks)}});
  return true;
}

bool recording_party::give(std::size_t member, std::size_t at, place from, std::size_t count) {
  copy(from, {owner(member), buffer::output, at}, count);
  return true;
}

bool recording_party::combine_told(patterns::range of, place to) {
  std::vector<place> inputs;
  for (std::size_t m = 0; m < size(); ++m) inputs.push_back(given(m, of.first));
  combine(inputs, to, of.count);
  return true;
}

void recording_party::emit(sink& to) const {
  layout cut = cut_;
  cut.board = narrow(shown_.first + shown_.count);
  to.begin(cut);
  for (const recorded& each : steps_) to.emit(each.kind, each.peer, each.sources, each.targets, each.after);
}

}  // namespace weft::schedules
