// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <utility>
#include <weft/calls/arrival_look.hpp>
#include <weft/calls/prepared_calls.hpp>

namespace weft::detail {
namespace {

std::shared_ptr<agreed_times> tell(communicator_state& state, double wait, std::uint64_t fingerprint) {
  std::vector<double> waits(static_cast<std::size_t>(state.size()), -std::numeric_limits<double>::infinity());
  waits[static_cast<std::size_t>(state.member.rank)] = wait;
  const slowest_times times(waits);
  const auto by = plan_for(state, planned_call(times.call, by_messages_of_times(), 0, waits.size()), {});
  return std::make_shared<agreed_times>(state, waits, by->plan, fingerprint);
}

}  // namespace

arrival_look::arrival_look(communicator_state& state, watched_calls& its, std::uint64_t fingerprint)
    : its_(its), timer_(state.host.moved_by().time()), all_(tell(state, its.watch.wait(), fingerprint)) {}

arrival_look::~arrival_look() {
  all_->await();
  if (all_->failure() != nullptr) return;
  if (const double seconds = timer_.seconds(); seconds > 0) its_.watch.waited(seconds);
  auto& arrivals = its_.by_arrival.arrivals;
  if (!find_arrivals(all_->slowest(), its_.late, arrivals)) return;
  for (double& each : arrivals) each = std::round(each / its_.by_arrival.operand.unit);
}

void look_away(communicator_state& state, std::uint64_t fingerprint) {
  std::erase_if(state.looks_away, [](const auto& each) { return each->is_over(); });
  state.looks_away.push_back(tell(state, arrival_watch::unknown, fingerprint));
}

}  // namespace weft::detail
