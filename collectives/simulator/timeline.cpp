// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <weft/simulator/timeline.hpp>

#include "path_builder.hpp"

namespace weft::simulator {

critical_path critical_path_of(const simulation& done, const timeline& seen) {
  std::unordered_map<activity_id, const activity*> by_id;
  by_id.reserve(seen.activities().size());
  for (const activity& a : seen.activities()) by_id.emplace(a.id, &a);
  std::vector<const activity*> backwards;
  for (activity_id next = done.last; next != no_activity; next = backwards.back()->cause)
    backwards.push_back(by_id.at(next));
  path_builder path(backwards.size());
  std::for_each(backwards.rbegin(), backwards.rend(), [&](const activity* a) { path.append(*a); });
  return std::move(path).finish(done.completion);
}

const char* name(activity_kind kind) {
  constexpr std::array names{"send overhead", "transfer", "receive overhead", "compute"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace weft::simulator
