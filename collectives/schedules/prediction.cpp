// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/prediction.hpp>

#include "processor_work.hpp"

namespace weft::schedules {

std::uint32_t segments_of(const algorithm& how, int ranks, std::size_t bytes, std::size_t segment) {
  if ((how.parameters & takes::segments) == 0) return 1;
  const std::size_t chunk =
      (how.parameters & takes::segments_of_share) == 0 ? bytes : bytes / static_cast<std::size_t>(std::max(ranks, 1));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>((chunk + segment - 1) / segment, 1, most_segments));
}

namespace {

constexpr int degrees[] = {3, 4, 8, 16};

/// Those that are tried beside 2.
std::vector<int> other_degrees(const algorithm& how, int ranks) {
  std::vector<int> tried;
  if ((how.parameters & takes::best_degree) == 0) return tried;
  for (const int degree : degrees)
    if (degree < ranks) tried.push_back(degree);
  if (ranks > 2 && ranks <= std::ranges::max(degrees)) tried.push_back(ranks);
  return tried;
}

}  // namespace

std::vector<prediction> predict_each(const algorithm& how, const algorithm_arguments& of, std::size_t bytes,
                                     const path_costs& each, std::size_t segment) {
  const path_costs its = each.of_vector(static_cast<double>(bytes));
  algorithm_arguments tried = of;
  const int degree = (how.parameters & takes::best_degree) == 0 ? 0 : 2;
  const double processors = std::max(1.0, of.ranks / each.sharing);
  const bool is_pipeline = (how.parameters & takes::window) != 0;
  processor_work of_pipeline;
  const auto take_degree = [&](int taken) {
    if (taken != 0) tried.degree = taken;
    tried.by.segments = 1;
    if (each.sharing > 1 && is_pipeline) of_pipeline = work_of(how, tried, bytes, its);
  };
  const auto seconds = [&](std::uint32_t segments) {
    tried.by.segments = segments;
    const double alone = how.cost(tried, static_cast<double>(bytes), its);
    if (each.sharing <= 1) return alone;
    const double work = is_pipeline ? of_pipeline.whole(segments) : work_of(how, tried, bytes, its).whole(1);
    // Graham's bound (1969): what runs is never held up for longer than all processors have work.
    return work / processors + (1 - 1 / processors) * alone;
  };
  take_degree(degree);
  const std::uint32_t least = segments_of(how, of.ranks, bytes, segment);
  std::vector<prediction> all{{&how, least, seconds(least), degree}};
  if ((how.parameters & takes::segments) == 0) return all;
  for (std::uint32_t segments = 2 * least; segments <= most_segments; segments *= 2)
    all.push_back({&how, segments, seconds(segments), degree});
  for (const int other : other_degrees(how, of.ranks)) {
    take_degree(other);
    all.push_back({&how, least, seconds(least), other});
  }
  return all;
}

prediction predict(const algorithm& how, const algorithm_arguments& of, std::size_t bytes, const path_costs& each,
                   std::size_t segment) {
  const auto all = predict_each(how, of, bytes, each, segment);
  return *std::ranges::min_element(all, {}, &prediction::seconds);
}

double cost_from(const algorithm& pattern, const algorithm_arguments& of, std::size_t bytes, double seconds,
                 link_costs known, double link_costs::*unknown) {
  const auto with = [&](double value) {
    known.*unknown = value;
    return pattern.cost(of, static_cast<double>(bytes), known);
  };
  const double without = with(0), each = with(1) - without;
  return each > 0 ? std::max(0.0, (seconds - without) / each) : 0;
}

std::vector<prediction> predict_all(collective kind, const algorithm_arguments& of, std::size_t bytes,
                                    const path_costs& each, std::size_t segment) {
  std::vector<prediction> all;
  for (const algorithm& how : algorithms_of(kind)) all.push_back(predict(how, of, bytes, each, segment));
  std::stable_sort(all.begin(), all.end(),
                   [](const prediction& a, const prediction& b) { return a.seconds < b.seconds; });
  return all;
}

}  // namespace weft::schedules
