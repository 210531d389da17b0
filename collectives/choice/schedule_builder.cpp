// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <weft/choice/schedule_builder.hpp>
#include <weft/schedules/partition.hpp>
#include <weft/schedules/schedule_sink.hpp>

namespace weft::detail {
namespace {

schedules::partition partition_of(const collective_call& call, const place& at) {
  const auto ranks = static_cast<std::size_t>(at.ranks);
  if (call.counts.empty()) {
    if (call.what() == collective::alltoall) return call.count * ranks * ranks;
    return schedules::has_blocks(call.what()) ? call.count * ranks : call.count;
  }
  if (call.what() != collective::alltoall) return schedules::partition::of_chunks(call.counts);
  const auto received = call.counts.begin() + at.ranks;
  return schedules::partition::of_pairs(at.rank, {call.counts.begin(), received}, {received, call.counts.end()});
}

displaced_buffers displaced_in(const collective_call& call) {
  if (call.what() == collective::alltoall) return {call.displacements, call.received_displacements};
  if (call.what() == collective::scatter) return {call.displacements, {}};
  return {{}, call.displacements};
}

/// Bytes of the whole vector, as far as all ranks know them.
std::size_t vector_of(const collective_call& call, int ranks) {
  if (call.at_root || (call.what() == collective::alltoall && !call.counts.empty())) return SIZE_MAX;
  const auto blocks = static_cast<std::size_t>(schedules::has_blocks(call.what()) ? ranks : 1);
  const std::size_t elements = call.counts.empty()
                                   ? call.count * blocks
                                   : std::accumulate(call.counts.begin(), call.counts.end(), std::size_t{0});
  return elements * call.element_bytes;
}

/// Whether the options say what an operand costs.
bool has_costs(const options& settings) { return settings.transfer_cost > 0 || settings.compute_cost > 0; }

}  // namespace

schedules::algorithm_arguments shape_of(int ranks, const options& settings) {
  schedules::algorithm_arguments of;
  of.ranks = ranks;
  of.degree = settings.degree;
  of.splits = std::min(settings.splits, static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1);
  of.connections = settings.connections;
  if (has_costs(settings)) {
    of.transfer = settings.transfer_cost;
    of.compute = settings.compute_cost;
  }
  of.within = {settings.max_transfers, settings.max_reducers};
  return of;
}

std::shared_ptr<bound_schedule> build_schedule(const collective_call& call, const place& at, const options& settings) {
  schedules::algorithm_arguments of = shape_of(at.ranks, settings);
  of.rank = at.rank;
  of.root = call.root;
  of.by.segments = call.segments;
  if (call.degree != 0) of.degree = call.degree;
  if (!has_costs(settings)) {
    of.transfer = at.operand.transfer;
    of.compute = at.operand.compute;
    of.latency = at.operand.latency;
  }
  // In the model of arrivals a transfer ends with the operand: latency is part of it.
  for (const double arrival : call.arrivals)
    of.each.push_back({arrival, at.operand.transfer + at.operand.latency, at.operand.compute});
  if (at.groups != nullptr && (call.how->parameters & schedules::takes::groups) != 0) of.groups = at.groups->members;
  if (at.groups != nullptr && (call.how->parameters & schedules::takes::nodes) != 0) of.nodes = at.groups->nodes;
  if (at.groups != nullptr && (call.how->parameters & schedules::takes::order) != 0) of.order = at.groups->order;
  of.keep_order = call.custom == custom_operator::keeps_order;
  schedules::schedule_sink built;
  call.how->emit(of, built);
  const bool by_kernel = schedules::combines(call.what()) && call.custom == custom_operator::none;
  auto bound =
      std::make_shared<bound_schedule>(built.take(), partition_of(call, at), call.element_bytes,
                                       by_kernel ? kernels::combine(call.op, call.type) : nullptr, displaced_in(call));
  bound->vector_bytes = vector_of(call, at.ranks);
  if (call.custom != custom_operator::none) bound->reserve_between();
  return bound;
}

}  // namespace weft::detail
