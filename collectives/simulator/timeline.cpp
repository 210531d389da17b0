// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <weft/simulator/timeline.hpp>

namespace weft::simulator {

critical_path critical_path_of(const simulation& done, const timeline& seen) {
  std::unordered_map<activity_id, const activity*> by_id;
  by_id.reserve(seen.activities().size());
  for (const activity& a : seen.activities()) by_id.emplace(a.id, &a);
  critical_path path;
  for (activity_id next = done.last; next != no_activity; next = path.activities.back().cause)
    path.activities.push_back(*by_id.at(next));
  std::reverse(path.activities.begin(), path.activities.end());
  double reached = 0;
  for (std::size_t i = 0; i < path.activities.size(); ++i) {
    const activity& a = path.activities[i];
    const bool last = i + 1 == path.activities.size();
    const double end = last ? a.end : std::min(a.end, path.activities[i + 1].start);
    path.time_of[static_cast<std::size_t>(a.kind)] += end - a.start;
    path.other += a.start - reached;
    reached = end;
  }
  path.other += done.completion - reached;
  return path;
}

const char* name(activity_kind kind) {
  constexpr std::array names{"send overhead", "transfer", "receive overhead", "compute"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace weft::simulator
