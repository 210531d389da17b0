// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <stdexcept>
#include <string>
#include <weft/schedules/schedule_sink.hpp>

namespace weft::schedules {
namespace {

/// Appends `more` to a table; where it lies in it.
template <class T>
table_range append(std::vector<T>& table, std::span<const T> more) {
  const std::size_t size = table.size();
  if (size + more.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a schedule has at most 2^32 - 1 segments and dependencies");
  table.insert(table.end(), more.begin(), more.end());
  return {static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(more.size())};
}

}  // namespace

void schedule_sink::begin(const layout& cut) {
  take();
  built_.cut = cut;
}

step_index schedule_sink::emit(step_kind kind, std::int32_t peer, std::span<const segment> sources,
                               std::span<const segment> targets, std::span<const step_index> after) {
  if (built_.steps.size() >= std::numeric_limits<step_index>::max())
    throw std::length_error("a schedule has at most 2^32 - 1 steps");
  const auto index = static_cast<step_index>(built_.steps.size());
  for (const step_index before : after)
    if (before >= index)
      throw std::invalid_argument("step " + std::to_string(index) + " cannot depend on step " + std::to_string(before) +
                                  ": only on earlier ones");
  const table_range reads = append(built_.segments, sources);
  const table_range writes = append(built_.segments, targets);
  const table_range waits = append(built_.dependencies, after);
  built_.steps.push_back({kind, peer, ordinals_.next(kind, peer), reads, writes, waits});
  return index;
}

schedule schedule_sink::take() {
  ordinals_ = {};
  return std::exchange(built_, {});
}

}  // namespace weft::schedules
