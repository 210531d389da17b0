// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/process.hpp>

namespace weft::detail {

leaders::leaders(process& host, const fabric::group& members) : host_(host) {
  std::vector<int> number(static_cast<std::size_t>(host.processes()), -1), processes;
  for (int rank = 0; rank < members.size(); ++rank) {
    const std::int32_t its = members.process[static_cast<std::size_t>(rank)];
    int& known = number[static_cast<std::size_t>(its)];
    if (known < 0) {
      known = size();
      leader_.push_back(rank);
      processes.push_back(its);
    }
    number_.push_back(known);
  }
  here_ = number[static_cast<std::size_t>(host.number())];
  std::vector<fabric::arena_boards::seat> seats;
  for (std::size_t i = 0; i < leader_.size(); ++i) {
    const bool told = !members.board.empty();
    seats.push_back(
        {processes[i], told ? members.board[static_cast<std::size_t>(leader_[i])] : fabric::board_ticket()});
  }
  messages_.emplace(host, leader_, processes, here_);
  const node_layout nodes(processes, host.nodes());
  if (nodes.size() == 1)
    team_ = node_team::of(host, members.communicator, seats, leader_, static_cast<std::size_t>(here_));
  else
    nodes_ =
        across_nodes::of(host, members.communicator, nodes, seats, leader_, here_, leader_.size() == number_.size());
  if (host.records() != nullptr && team() != nullptr) {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < leader_.size(); ++i)
      if (team_ != nullptr || nodes.node[i] == nodes.node[static_cast<std::size_t>(here_)])
        ranks.push_back(members.world[static_cast<std::size_t>(leader_[i])]);
    team()->name_members(std::move(ranks));
  }
}

fabric::board_ticket leaders::board() const noexcept {
  if (nodes_ != nullptr) return nodes_->board();
  return team_ != nullptr ? team_->board() : fabric::board_ticket();
}

bool leaders::meet_on_nodes(collective what, const request& call) const noexcept {
  return (team_ != nullptr && team_->takes(what, call)) || (nodes_ != nullptr && nodes_->takes(what, call));
}

// On those of the first process: it does not matter much whose, but that they are the same.
void leaders::agree_on_boards(fabric::participant& member) {
  if (nodes_ == nullptr || host_.measured() == nullptr) return;
  struct {
    schedules::board_costs costs;
    bool are_known;
  } told{};
  if (const auto& mine = host_.measured()->machine.boards) told = {*mine, true};
  request bytes;
  bytes.what = collective::broadcast;
  bytes.element_bytes = 1;
  leader_call all;
  all.what = bytes.what;
  all.of = &bytes;
  all.count = sizeof told;
  all.in = all.out = reinterpret_cast<std::byte*>(&told);
  all.sequence = sequence_of_start;
  // An algorithm that is named: until they agree, processes would choose by costs that differ.
  schedules::selection_parameters by = host_.selection();
  by.wanted[static_cast<std::size_t>(bytes.what)] = schedules::find_algorithm(bytes.what, "binomial");
  const bool heard = messages_->run(all, member, by).failure == nullptr;
  host_.agree_on(heard && told.are_known ? std::optional(told.costs) : std::nullopt);
}

void leaders::try_out() noexcept {
  messages_->try_out();
  if (team_ != nullptr) team_->try_out();
  if (nodes_ != nullptr) nodes_->try_out();
}

void leaders::add_trials(trial_counts& to) const noexcept {
  messages_->add_trials(to);
  if (team_ != nullptr) team_->add_trials(to);
  if (nodes_ != nullptr) nodes_->add_trials(to);
}

void leaders::close() noexcept {
  if (const fabric::board_ticket mine = board()) host_.boards()->abandon(mine);
}

void leaders::fail() noexcept {
  if (team_ != nullptr) team_->fail();
  if (nodes_ != nullptr) nodes_->fail();
}

leader_result leaders::run(const leader_call& call, fabric::participant& member,
                           const schedules::selection_parameters& selection) {
  return meet_on_nodes(call.what, *call.of) ? run_on_nodes(call, member, selection)
                                            : messages_->run(call, member, selection);
}

}  // namespace weft::detail
