// SPDX-License-Identifier: Apache-2.0
#include <weft/calls/call_in_steps.hpp>
#include <weft/calls/memory_way.hpp>
#include <weft/hierarchy/leaders.hpp>

namespace weft::detail {

bool call_in_steps::learn(std::uint32_t sequence) {
  team_ = nullptr;
  const request& call = what_.call;
  if (what_.known.goes == way::joined) {
    among_ranks_.emplace(at_, call, what_.known, sequence);
    return among_ranks_->prepare();
  }
  leaders& between = at_.here->between();
  node_team* const team = between.team();
  if (what_.known.goes != way::node || team == nullptr || static_cast<int>(team->size()) != between.size())
    return false;
  const schedules::algorithm* const wanted = at_.selection.wanted[static_cast<std::size_t>(call.what)];
  what_.known.fill_in(call, sequence);
  if (!team->is_one_round(what_.known.between, wanted != nullptr ? wanted->pattern : memory_pattern::none))
    return false;
  if (sequence <= last_sequence) at_.member.silent.enter(sequence, what_.known.between.fingerprint);
  team_ = team;
  return true;
}

void call_in_steps::use_shown() {
  if (team_ == nullptr) return among_ranks_->finish();
  conclude_on_node(at_, what_.call, team_->use_shown(what_.known.between, reached_, at_.member));
}

}  // namespace weft::detail
