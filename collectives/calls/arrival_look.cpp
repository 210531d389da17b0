// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

watched_calls watch_of(communicator_state& state, const choice_request& of) {
  const among all = all_of(state);
  const auto bytes = static_cast<double>(of.bytes);
  const schedules::path_costs each = costs_among(all, *state.host.measured(), of);
  watched_calls its;
  its.at_once = state.choices.of(all, of);
  its.by_arrival = its.at_once;
  its.by_arrival.segments = 1;  // else operands that are there wait for the segments of the late one
  its.by_arrival.operand = schedules::operand_costs_of(bytes, each.of_vector(bytes));
  its.by_arrival.arrivals.reserve(static_cast<std::size_t>(state.size()));
  // When the others could be done. A look itself may take some ranks so much longer than others, and where they share
  // CPUs each of them may have to wait for the turns of the others of its CPU.
  its.late = predict(all, of, *its.at_once.how).seconds * std::max(1.0, each.sharing);
  return its;
}

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
