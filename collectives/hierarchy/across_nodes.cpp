// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <weft/hierarchy/across_nodes.hpp>
#include <weft/process/process.hpp>

#include "staged_party.hpp"

namespace weft::detail {
namespace {

std::vector<int> chosen(std::span<const int> of, std::span<const int> indices) {
  std::vector<int> all;
  for (const int each : indices) all.push_back(of[static_cast<std::size_t>(each)]);
  return all;
}

std::vector<int> firsts(const node_layout& layout) {
  std::vector<int> all;
  for (const auto& each : layout.members) all.push_back(each.front());
  return all;
}

std::vector<int> processes_of(std::span<const fabric::arena_boards::seat> seats) {
  std::vector<int> all;
  for (const auto& each : seats) all.push_back(each.process);
  return all;
}

}  // namespace

std::unique_ptr<across_nodes> across_nodes::of(process& host, std::uint64_t communicator, node_layout layout,
                                               std::span<const fabric::arena_boards::seat> seats,
                                               std::span<const int> leaders, int here, bool one_rank_each) {
  if (!host.settings().node) return nullptr;
  const auto has_board = [&](int process) {
    return node_team::is_board(seats[static_cast<std::size_t>(process)].ticket);
  };
  bool any = false;
  for (const auto& each : layout.members) {
    if (each.size() == 1) continue;
    if (!std::ranges::all_of(each, has_board)) return nullptr;
    any = true;
  }
  if (!any) return nullptr;
  return std::make_unique<across_nodes>(host, communicator, std::move(layout), seats, leaders, here, one_rank_each);
}

across_nodes::across_nodes(process& host, std::uint64_t communicator, node_layout layout,
                           std::span<const fabric::arena_boards::seat> seats, std::span<const int> leaders, int here,
                           bool one_rank_each)
    : host_(host),
      layout_(std::move(layout)),
      here_(here),
      one_rank_each_(one_rank_each),
      node_(layout_.node[static_cast<std::size_t>(here)]),
      node_ranks_(chosen(leaders, layout_.members[static_cast<std::size_t>(node_)])),
      between_(host, chosen(leaders, firsts(layout_)), chosen(processes_of(seats), firsts(layout_)), node_) {
  const auto& mine = layout_.members[static_cast<std::size_t>(node_)];
  if (mine.size() == 1) return;
  std::vector<fabric::arena_boards::seat> of_node;
  for (const int each : mine) of_node.push_back(seats[static_cast<std::size_t>(each)]);
  team_ = std::make_unique<node_team>(host, communicator, of_node, node_ranks_,
                                      static_cast<std::size_t>(layout_.seat[static_cast<std::size_t>(here)]));
}

fabric::board_ticket across_nodes::board() const noexcept {
  return team_ != nullptr ? team_->board() : fabric::board_ticket();
}

bool across_nodes::takes(collective what, const request& call) const noexcept {
  const std::size_t bytes = std::max(call.in_count, call.out_count) * call.element_bytes;
  if (!schedules::goes_in_stages(what, bytes, layout_.most)) return false;
  if (schedules::combines(what) && call.element_bytes > fabric::arena_slot_bytes) return false;
  switch (what) {
    case collective::barrier:
    case collective::broadcast:
      return true;
    case collective::reduce:
    case collective::allreduce:
      return layout_.in_rows || call.by != custom_operator::keeps_order;
    case collective::alltoall:
      return layout_.in_rows && one_rank_each_ && !call.uneven;
    default:
      return layout_.in_rows;
  }
}

leader_result across_nodes::run(const leader_call& call, fabric::participant& member,
                                const schedules::selection_parameters& selection) {
  std::optional<staged_party> party;  // what it has on the way ends behind a failure
  try {
    party.emplace(node_stages{layout_, here_, team_.get(), between_}, call, member, selection);
    run_in_stages(*party, call.what);
    return party->take_result();
  } catch (const std::exception&) {  // weft::error, std::bad_alloc
    return {host_.break_communicator(member), nullptr};
  }
}

}  // namespace weft::detail
