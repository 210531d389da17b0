// SPDX-License-Identifier: Apache-2.0
#include "fair_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::simulator {
namespace {

/// The gap of a flow that may still grow.
constexpr double growing = -1;

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

}  // namespace

fair_sharing::fair_sharing(const network& links, int ranks, double gap_per_byte, bool ports)
    : network_(links),
      gap_per_byte_(gap_per_byte),
      ports_(ports && gap_per_byte > 0),
      links_(static_cast<std::uint32_t>(links.links.size())),
      capacity_left_(links_ + (ports_ ? static_cast<std::size_t>(ranks) : 0)),
      unfilled_(capacity_left_.size()),
      last_(capacity_left_.size()) {}

void fair_sharing::begin(flow of, int to, std::uint64_t bytes) {
  const auto node = [&](std::size_t rank) { return network_.node_of[rank]; };
  append_way(network_, node(of.rank), node(static_cast<std::size_t>(to)), of.links);
  of.least_gap = std::max(gap_per_byte_, costs_of(network_, of.links).gap_per_byte);
  if (ports_) of.links.push_back(links_ + static_cast<std::uint32_t>(to));
  of.remaining = static_cast<double>(bytes);
  of.since = of.start;
  flows_.push_back(std::move(of));
  changed_ = true;
}

void fair_sharing::settle(double now) {
  changed_ = false;
  ++version_;
  fill();
  for (std::size_t i = 0; i < flows_.size(); ++i) set_gap(flows_[i], gaps_[i], now);
}

/// Progressive filling: the links that are full first stop their flows; until none that is full stops any.
void fair_sharing::fill() {
  list_flows();
  gaps_.assign(flows_.size(), growing);
  const auto share = [&](std::uint32_t l) { return capacity_left_[l] / unfilled_[l]; };
  // What is full to within rounding is full: else a port that carries one flow alone would seem slower than the flow.
  constexpr double rounding = 1e-12;
  for (double slowest = slowest_growing(); slowest >= 0; slowest = slowest_growing()) {
    const double limit = slowest > 0 ? (1 - rounding) / slowest : std::numeric_limits<double>::infinity();
    double least = limit;
    std::erase_if(used_, [&](std::uint32_t l) { return unfilled_[l] == 0; });
    for (const std::uint32_t l : used_) least = std::min(least, share(l));
    if (least == limit) {
      for (std::size_t i = 0; i < flows_.size(); ++i)
        if (gaps_[i] == growing && flows_[i].least_gap == slowest) fix(i, slowest);
      continue;
    }
    full_.clear();
    for (const std::uint32_t l : used_)
      if (share(l) <= least * (1 + rounding)) full_.push_back(l);
    for (const std::uint32_t l : full_)
      for (std::uint32_t at = last_[l]; at != none; at = uses_[at].before)
        if (gaps_[uses_[at].flow] == growing) fix(uses_[at].flow, 1 / least);
  }
}

void fair_sharing::list_flows() {
  used_.clear();
  uses_.clear();
  for (std::size_t i = 0; i < flows_.size(); ++i)
    for (const std::uint32_t l : flows_[i].links) {
      if (unfilled_[l]++ == 0) {
        used_.push_back(l);
        last_[l] = none;
        capacity_left_[l] = l < links_ ? network_.links[l].capacity : 1 / gap_per_byte_;
      }
      uses_.push_back(
          {static_cast<std::uint32_t>(i), std::exchange(last_[l], static_cast<std::uint32_t>(uses_.size()))});
    }
}

double fair_sharing::slowest_growing() const {
  double slowest = growing;
  for (std::size_t i = 0; i < flows_.size(); ++i)
    if (gaps_[i] == growing) slowest = std::max(slowest, flows_[i].least_gap);
  return slowest;
}

void fair_sharing::fix(std::size_t flow, double gap) {
  gaps_[flow] = gap;
  const double rate = gap > 0 ? 1 / gap : 0;
  for (const std::uint32_t l : flows_[flow].links) {
    capacity_left_[l] = std::max(0.0, capacity_left_[l] - rate);
    --unfilled_[l];
  }
}

void fair_sharing::set_gap(flow& of, double gap, double now) {
  if (of.gap == gap && of.end != std::numeric_limits<double>::infinity()) return;
  if (of.gap > 0) of.remaining = std::max(0.0, of.remaining - (now - of.since) / of.gap);
  of.gap = gap;
  of.since = now;
  of.end = now + of.remaining * gap;
}

double fair_sharing::next_end() const {
  double least = std::numeric_limits<double>::infinity();
  for (const flow& f : flows_) least = std::min(least, f.end);
  return least;
}

std::vector<fair_sharing::flow> fair_sharing::take_ended(double now) {
  std::vector<flow> ended;
  auto left = flows_.begin();
  for (flow& each : flows_) {
    if (each.end <= now)
      ended.push_back(std::move(each));
    else if (&*left++ != &each)
      *(left - 1) = std::move(each);
  }
  flows_.erase(left, flows_.end());
  if (!ended.empty()) changed_ = true;
  return ended;
}

}  // namespace weft::simulator
