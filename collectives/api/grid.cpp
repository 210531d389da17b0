// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <weft/api/grid_places.hpp>
#include <weft/api/offer.hpp>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/message_set.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/grid.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {
namespace detail {
namespace {

std::uint64_t hash_of(const grid_shape& shape, placement where) {
  std::uint64_t hash = static_cast<std::uint64_t>(where) + 1;
  for (std::size_t d = 0; d < shape.dimensions(); ++d) {
    hash ^= static_cast<std::uint64_t>(shape.extents()[d]) << 1 | static_cast<std::uint64_t>(shape.periodic(d));
    hash *= 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

[[noreturn]] void refuse_neighbors(const communicator_state& state, const char* name, errc kind,
                                   const std::string& what) {
  throw error(kind, where(state, name) + ": " + what);
}

/// The elements of each block of a buffer that has `all`.
std::vector<std::size_t> blocks_of(const communicator_state& state, const neighbor_call& call, const char* buffer,
                                   std::size_t all, const given_counts* counts, std::size_t blocks) {
  if (counts != nullptr) {
    const std::size_t sum = total_count(state, call.name, call.element_bytes, counts->all(), blocks, "neighbour");
    if (sum != all)
      refuse_neighbors(state, call.name, errc::invalid_count,
                       std::string("the ") + buffer + " has " + std::to_string(all) +
                           " elements, but the counts of its blocks add up to " + std::to_string(sum));
    return {counts->all().begin(), counts->all().end()};
  }
  if (blocks == 0 ? all != 0 : all % blocks != 0)
    refuse_neighbors(state, call.name, errc::invalid_count,
                     std::string("the ") + buffer + " has " + std::to_string(all) +
                         " elements, which are not as many for each of " + std::to_string(blocks) + " neighbours");
  return std::vector<std::size_t>(blocks, blocks == 0 ? 0 : all / blocks);
}

void check_neighbor_buffers(const communicator_state& state, const neighbor_call& call) {
  check_memory(state, call.name, call.in, call.in_count * call.element_bytes);
  check_memory(state, call.name, call.out, call.out_count * call.element_bytes);
  const bool are_apart = call.in >= call.out + call.out_count * call.element_bytes ||
                         call.out >= call.in + call.in_count * call.element_bytes;
  if (!are_apart)
    refuse_neighbors(state, call.name, errc::invalid_buffer, "input and output overlap: they must be apart");
}

void add(message_set& to, std::span<const edge_message> messages) {
  for (const edge_message& each : messages) {
    if (each.is_send)
      to.send({each.data, each.bytes}, each.peer, each.tag);
    else
      to.receive({each.data, each.bytes}, each.peer, each.tag);
  }
}

std::vector<int> wanted_extents(int ranks, std::vector<int> extents, const std::vector<bool>& periodic) {
  if (extents.empty()) extents.assign(periodic.size(), 0);
  return balanced_extents(ranks, extents);
}

}  // namespace
}  // namespace detail

grid::grid(communicator& of, std::vector<int> extents, std::vector<bool> periodic, placement where)
    : grid(of, grid_shape(detail::wanted_extents(of.size(), std::move(extents), periodic), periodic), where) {}

grid::grid(communicator& of, grid_shape shape, placement where) : grid(placed(of, shape, where), std::move(shape)) {}

grid::grid(communicator ranks, grid_shape&& shape)
    : communicator(std::move(ranks)), shape_(std::move(shape)), neighbors_(shape_.neighbors(rank())), edges_(dup()) {
  state_->beside = edges_.state_;
  edges_.state_->beside = state_;
}

communicator grid::placed(communicator& of, const grid_shape& shape, placement where) {
  std::int64_t place = of.rank();
  if (where == placement::by_node) {
    const std::vector<int>& node_of = of.state_->host.nodes();
    std::vector<int> nodes;
    for (const int process : of.state_->member.members->process)
      nodes.push_back(node_of[static_cast<std::size_t>(process)]);
    place = detail::places_by_node(shape, nodes)[static_cast<std::size_t>(of.rank())];
  }
  return *of.divide("grid", {0, place, detail::hash_of(shape, where)});
}

grid grid::keep(const std::vector<bool>& kept) {
  if (kept.size() != shape_.dimensions())
    throw error(errc::invalid_count, detail::where(*state_, "keep") + ": " + std::to_string(kept.size()) +
                                         " dimensions are said to be kept or not, of " +
                                         std::to_string(shape_.dimensions()));
  std::vector<int> extents, others, place;
  std::vector<bool> periodic;
  const std::vector<int> own = coordinates();
  for (std::size_t d = 0; d < kept.size(); ++d) {
    if (kept[d]) {
      extents.push_back(shape_.extents()[d]);
      periodic.push_back(shape_.periodic(d));
    } else {
      others.push_back(shape_.extents()[d]);
      place.push_back(own[d]);
    }
  }
  std::uint64_t terms = 1;
  for (const bool each : kept) terms = 2 * terms + (each ? 1 : 0);
  return grid(*divide("keep", {*grid_shape(others).rank_at(place), rank(), terms}), grid_shape(extents, periodic));
}

std::vector<detail::edge_message> grid::messages_of(const detail::neighbor_call& call, std::int64_t first_tag) const {
  const detail::communicator_state& state = *edges_.state_;
  const std::size_t blocks = neighbors_.size();
  const auto sent = call.gathers ? std::vector<std::size_t>(blocks, call.in_count)
                                 : detail::blocks_of(state, call, "input", call.in_count, call.sent, blocks);
  const auto received = detail::blocks_of(state, call, "output", call.out_count, call.received, blocks);
  if (call.received == nullptr && sent != received)
    detail::refuse_neighbors(state, call.name, errc::invalid_count,
                             "the input has " + std::to_string(call.in_count) + " elements, the output " +
                                 std::to_string(call.out_count) + ", for " + std::to_string(blocks) + " neighbours");
  detail::check_neighbor_buffers(state, call);
  std::vector<detail::edge_message> all;
  std::byte *from = const_cast<std::byte*>(call.in), *to = call.out;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t in_bytes = sent[i] * call.element_bytes, out_bytes = received[i] * call.element_bytes;
    if (neighbors_[i]) {  // to whom this rank lies the other way
      all.push_back({true, *neighbors_[i], first_tag + static_cast<std::int64_t>(i ^ 1), from, in_bytes});
      all.push_back({false, *neighbors_[i], first_tag + static_cast<std::int64_t>(i), to, out_bytes});
    }
    if (!call.gathers) from += in_bytes;
    to += out_bytes;
  }
  return all;
}

detail::begun_operation grid::begin(const detail::neighbor_call& call) {
  auto begun = std::make_unique<detail::pending_messages>(edges_.state_, call.name);
  detail::add(begun->all, messages_of(call, 0));
  begun->all.begin();
  return begun;
}

handle grid::start(const detail::neighbor_call& call) {
  const detail::sole_call::making mine(edges_.state_->collecting, *edges_.state_, call.name);
  const ticks now = ticks_now();
  detail::begun_operation begun = begin(call);
  if (edges_.state_->records != nullptr)
    begun->note_start(detail::traced_message(*edges_.state_, call.name, call.in_count * call.element_bytes, -1, -1,
                                             trace::form::started),
                      now);
  return handle(std::move(begun));
}

void grid::run(const detail::neighbor_call& call) {
  const detail::sole_call::making mine(edges_.state_->collecting, *edges_.state_, call.name);
  const detail::traced_call traced(*edges_.state_, call.name, call.in_count * call.element_bytes);
  detail::begun_operation begun = begin(call);
  detail::pending& operation = *begun;
  std::vector<handle> one;
  one.emplace_back(std::move(begun));
  const time_limit* const limit = time_limit::current();
  if (limit != nullptr && !one[0].wait_until(limit->when()))
    detail::throw_timed_out(detail::where(*edges_.state_, call.name), operation.missing(), std::move(one));
  one[0].wait();
}

plan grid::make_plan(const detail::neighbor_call& call) {
  const detail::sole_call::making mine(edges_.state_->collecting, *edges_.state_, call.name);
  return plan_messages(call.name, messages_of(call, take_tags()));
}

plan grid::plan_messages(const char* name, std::span<const detail::edge_message> messages) {
  auto made = std::make_unique<detail::planned_messages>(edges_.state_, name);
  detail::add(made->all, messages);
  made->all.reserve();
  if (edges_.state_->records != nullptr)
    made->note_as(detail::traced_message(*edges_.state_, name, made->all.bytes(), -1, -1, trace::form::planned));
  return plan(std::move(made));
}

}  // namespace weft
