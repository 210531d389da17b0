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

reduce_scatter_steps emit_reduce_scatter(const ring_place& at, partial_sums home, emitter& emit) {
  const std::size_t slots = reduce_scatter_slots(at, home);
  const auto slot = [&](std::size_t item) {
    return in_scratch(static_cast<std::uint32_t>(item % slots), at.block(item, 2));
  };
  reduce_scatter_steps done{std::vector<step_index>(at.items), {}};
  std::vector<step_index> received(at.items);
  for (std::size_t i = 0; i < std::min<std::size_t>(at.segments, at.items); ++i)
    done.sent[i] = emit.send(at.next, in_input(at.block(i, 1)), {});
  for (std::size_t i = 0; i < slots; ++i) received[i] = emit.receive(at.previous, slot(i), {});
  for (std::size_t i = 0; i < at.items; ++i) {
    const block_range block = at.block(i, 2);
    const bool own = i + at.segments >= at.items;
    const segment sum = own || home == partial_sums::in_output ? in_output(block) : slot(i);
    step_index slot_read = emit.combine(slot(i), in_input(block), sum, {received[i]});
    if (own) {
      done.finished.push_back(slot_read);
    } else {
      const step_index sent = emit.send(at.next, sum, {slot_read});
      done.sent[i + at.segments] = sent;
      // The next rank receives this item when it has sent items before it, so that nobody waits for himself around the
      // ring.
      if (home == partial_sums::in_scratch) slot_read = sent;
    }
    if (i + slots < at.items) received[i + slots] = emit.receive(at.previous, slot(i + slots), {slot_read});
  }
  return done;
}

void emit_allgather(const ring_place& at, buffer own_in, const std::vector<step_index>& own_ready,
                    const std::vector<step_index>& free, emitter& emit) {
  std::vector<step_index> received(at.items);
  const auto receive = [&](std::size_t i) {
    const step_index earlier = i < at.window ? no_step : received[i - at.window];
    received[i] = emit.receive(at.previous, in_output(at.block(i, 1)), {free[i], earlier});
  };
  for (std::uint32_t j = 0; j < at.segments && at.items > 0; ++j)
    emit.send(at.next, {me, own_in, 0, {at.own_block(j), 1}}, {own_ready[j]});
  for (std::size_t i = 0; i < std::min(at.window, at.items); ++i) receive(i);
  for (std::size_t i = 0; i < at.items; ++i) {
    if (i + at.segments < at.items) emit.send(at.next, in_output(at.block(i, 1)), {received[i]});
    if (i + at.window < at.items) receive(i + at.window);
  }
}

}  // namespace weft::schedules
