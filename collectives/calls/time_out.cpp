// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>
#include <weft/calls/time_out.hpp>
#include <weft/hierarchy/leaders.hpp>

namespace weft {
namespace detail {
namespace {

std::string listed(std::span<const int> ranks) {
  constexpr std::size_t most = 16;
  std::string text;
  for (const int each : ranks.first(std::min(ranks.size(), most)))
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

/// Whether who makes it waits for its peer.
bool waits(const fabric::operation& each) noexcept {
  using enum fabric::operation::stage;
  if (!each.collective || each.ahead || each.peer < 0) return false;
  return !each.is_send || each.now == waiting_for_grant || each.now == departing || each.now == waiting_at_home;
}

}  // namespace

void timed_out_calls::drop() noexcept {
  for (handle& each : calls) each.drop();
  calls.clear();
}

std::vector<int> awaited_ranks(communicator_state& state, bool latest) {
  std::vector<int> ranks;
  state.host.messages().while_held([&] {
    for (const fabric::operation& each : state.member.active)
      if (waits(each)) ranks.push_back(each.peer);
  });
  leaders& between = state.here->between();
  if (const node_team* const team = between.team()) std::ranges::copy(team->behind(), std::back_inserter(ranks));
  if (latest && state.here->joins())
    std::ranges::copy(state.host.roll().behind(state.id(), state.sequence()), std::back_inserter(ranks));
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

void throw_timed_out(const std::string& where, std::vector<int> missing, std::vector<handle> calls) {
  const auto left = std::make_shared<timed_out_calls>();
  left->missing = std::move(missing);
  left->calls = std::move(calls);
  if (time_limit* const limit = time_limit::current()) limit->note(left);
  std::string text = where + ": it was not done when its deadline passed";
  if (!left->missing.empty())
    text += (left->missing.size() == 1 ? ": it waits for rank " : ": it waits for ranks ") + listed(left->missing);
  throw timed_out(text, left);
}

}  // namespace detail

timed_out::timed_out(const std::string& message, std::shared_ptr<detail::timed_out_calls> calls)
    : error(errc::timed_out, message), calls_(std::move(calls)) {}

std::span<const int> timed_out::missing() const noexcept { return calls_->missing; }
std::span<handle> timed_out::calls() const noexcept { return calls_->calls; }

}  // namespace weft
