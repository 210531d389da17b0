// SPDX-License-Identifier: Apache-2.0
// Why nothing more happens.
#include <algorithm>
#include <utility>

#include "event_loop.hpp"

namespace weft::simulator {
namespace {

using place = std::pair<int, step_index>;

std::string name_of(const workload& all, const place& of) {
  return "rank " + std::to_string(of.first) + ", " + name_of(all, of.first, of.second);
}

/// A step that has to go on before this one can, and why.
std::pair<place, const char*> awaited(const workload& all, const step_states& states, const place& of) {
  const auto [rank, step] = of;
  const shape& steps = all.of(rank);
  const shape::step& s = steps.steps[step];
  for (const step_index before : shape::part(steps.before, s.ends))
    if (!states.is(rank, before, step_states::done)) return {{rank, before}, "cannot begin before the end of"};
  for (const step_index before : shape::part(steps.before, s.begins))
    if (!states.is(rank, before, step_states::begun)) return {{rank, before}, "cannot begin before the begin of"};
  const meeting other = all.other_side(rank, step);
  return {{other.rank, other.step}, "waits for"};
}

}  // namespace

void report_deadlock(const workload& all, const step_states& states, const machine_model& model) {
  place at{0, 0};
  for (int rank = all.ranks(); rank-- > 0;)
    for (step_index s = 0; s < all.of(rank).steps.size(); ++s)
      if (!states.is(rank, s, step_states::done)) {
        at = {rank, s};
        break;
      }
  // From any step that is left, what it waits for is left too: the walk comes to a circle.
  std::vector<place> walk;
  std::vector<bool> passed(all.steps(), false);
  for (; !passed[all.number(at.first, at.second)]; at = awaited(all, states, at).first) {
    passed[all.number(at.first, at.second)] = true;
    walk.push_back(at);
  }
  const auto first = std::find(walk.begin(), walk.end(), at);
  constexpr std::ptrdiff_t most = 16;
  std::string text = "deadlock: ";
  for (auto place = first; place != walk.end() && place - first < most; ++place) {
    const auto [next, why] = awaited(all, states, *place);
    text += name_of(all, *place) + " " + why + " " + name_of(all, next) + "; ";
  }
  if (walk.end() - first > most) text += "and so on, " + std::to_string(walk.end() - first) + " steps around; ";
  const bool rendezvous = model.eager_limit != std::numeric_limits<std::uint64_t>::max();
  throw deadlock(text + (rendezvous ? "messages above " + std::to_string(model.eager_limit) + " bytes are not buffered"
                                    : "every message is buffered"));
}

}  // namespace weft::simulator
