// SPDX-License-Identifier: Apache-2.0
#include "ring_phases.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "arguments.hpp"

namespace weft::schedules {
namespace {

std::vector<int> checked_order(const ring& around) {
  const auto ranks = static_cast<std::size_t>(around.ranks);
  std::vector<int> order = around.order;
  if (order.empty()) {
    order.resize(ranks);
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<bool> seen(ranks, false);
  for (const int rank : order) {
    check_rank(around.ranks, rank, "ring member");
    if (seen[static_cast<std::size_t>(rank)])
      throw std::invalid_argument("rank " + std::to_string(rank) + " is on the ring twice");
    seen[static_cast<std::size_t>(rank)] = true;
  }
  if (order.size() != ranks)
    throw std::invalid_argument("a ring of " + std::to_string(ranks) + " ranks cannot hold " +
                                std::to_string(order.size()));
  return order;
}

}  // namespace

ring_place::ring_place(const ring& around, int rank) : segments(around.by.segments), window(around.by.window) {
  check_rank(around.ranks, rank, "rank");
  check_pipeline(around.by);
  order = checked_order(around);
  place = static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
  next = order[(place + 1) % order.size()];
  previous = order[(place + order.size() - 1) % order.size()];
  items = (order.size() - 1) * segments;
}

block_range ring_place::block(std::size_t item, std::size_t back) const {
  const std::size_t distance = (item / segments + back) % order.size();
  const auto chunk = static_cast<std::uint32_t>(order[(place + order.size() - distance) % order.size()]);
  return {chunk * segments + static_cast<std::uint32_t>(item % segments), 1};
}

std::uint32_t reduce_scatter_slots(const ring_place& at, partial_sums home) {
  return static_cast<std::uint32_t>(
      std::min(at.items, at.window + (home == partial_sums::in_scratch ? at.segments : 0)));
}

void emit_reduce_scatter(const ring_place& at, partial_sums home, memory_emitter& emit) {
  const std::size_t slots = reduce_scatter_slots(at, home);
  const auto slot = [&](std::size_t item) {
    return in_scratch(static_cast<std::uint32_t>(item % slots), at.block(item, 2));
  };
  const auto receive = [&](std::size_t item) {
    const segment target = slot(item);
    emit.receive(at.previous, {&target, 1});
  };
  for (std::size_t i = 0; i < std::min<std::size_t>(at.segments, at.items); ++i)
    emit.send_value(at.next, at.block(i, 1));
  for (std::size_t i = 0; i < slots; ++i) receive(i);
  for (std::size_t i = 0; i < at.items; ++i) {
    const block_range block = at.block(i, 2);
    const bool own = i + at.segments >= at.items;
    const segment sum = own || home == partial_sums::in_output ? in_output(block) : slot(i);
    emit.combine(slot(i), in_input(block), sum);
    // Before the next receive: the next rank receives this item when it has sent items before it, so that nobody waits
    // for himself around the ring.
    if (!own) emit.send(at.next, {&sum, 1});
    if (i + slots < at.items) receive(i + slots);
  }
}

void emit_allgather(const ring_place& at, memory_emitter& emit) {
  for (std::uint32_t j = 0; j < at.segments && at.items > 0; ++j) emit.send_value(at.next, {at.own_block(j), 1});
  for (std::size_t i = 0; i < std::min(at.window, at.items); ++i) emit.receive_value(at.previous, at.block(i, 1));
  for (std::size_t i = 0; i < at.items; ++i) {
    if (i + at.segments < at.items) emit.send_value(at.next, at.block(i, 1));
    if (i + at.window < at.items) emit.receive_value(at.previous, at.block(i + at.window, 1));
  }
}

}  // namespace weft::schedules
