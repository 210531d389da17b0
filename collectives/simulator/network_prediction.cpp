// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <weft/simulator/network_prediction.hpp>
#include <weft/simulator/simulate.hpp>
#include <weft/simulator/traffic.hpp>

namespace weft::simulator {
namespace {

using schedules::link_costs;
using schedules::path_costs;

/// The costs that the simulator's machine has.
path_costs of_simulator(const path_costs& each) {
  const auto plain = [](const link_costs& of) {
    link_costs left(of.alpha, of.beta, of.gamma);
    left.gap = of.gap;
    left.overhead = of.overhead;
    return left;
  };
  return {plain(each), plain(each.near)};
}

/// One algorithm of one call, of the degree that its formula takes.
class timed_algorithm {
 public:
  timed_algorithm(const schedules::prediction& alone, const formula_call& of, const priced_network& on)
      : how_(*alone.how),
        degree_(alone.degree),
        of_(of),
        on_(on),
        each_(of.each.of_vector(bytes())),
        plain_(of_simulator(of.each)),
        loads_(traffic_of(on.links, of.shape.ranks, counts_of_part(1, 1), steps_in(1, 1), most_counted)) {}

  bool is_simulated(std::uint32_t segments) const {
    return loads_.is_whole && loads_.messages * std::min(segments, least_simulated_segments) <= most_simulated;
  }
  /// Nothing where it takes `worth` or more.
  std::optional<network_prediction> simulated(std::uint32_t segments, double worth) const {
    const double beside = formula(segments, each_) - formula(segments, plain_);
    if (least_time(segments) >= worth - beside) return std::nullopt;
    const auto time = time_of(segments, worth - beside);
    if (!time) return std::nullopt;
    const double all = std::max(0.0, *time + beside);
    return all < worth ? std::optional(network_prediction{{&how_, segments, all, degree_}, *time}) : std::nullopt;
  }
  network_prediction bound(std::uint32_t segments) const {
    return {{&how_, segments, std::max(formula(segments, each_), least_time(segments)), degree_}};
  }

 private:
  double bytes() const { return static_cast<double>(of_.bytes); }
  /// Of the busiest link. The shape of trees that are made for costs depends on the segments' length.
  double least_time(std::uint32_t segments) const {
    if (!loads_.is_whole) return 0;
    if ((how_.parameters & schedules::takes::costs) == 0) return loads_.least_time(on_.links);
    return traffic_of(on_.links, of_.shape.ranks, counts_of_part(1, 1), steps_in(segments, 1)).least_time(on_.links);
  }
  double formula(std::uint32_t segments, const path_costs& each) const {
    return how_.cost(shape_in(segments, segments), bytes(), each);
  }

  // Of `part` of all segments.
  schedules::algorithm_arguments shape_in(std::uint32_t segments, std::uint32_t part) const {
    schedules::algorithm_arguments shape = of_.shape;
    shape.by.segments = part;
    if (degree_ != 0) shape.degree = degree_;
    const auto operand = schedules::operand_costs_of(bytes() / segments, each_);
    shape.transfer = operand.transfer;
    shape.compute = operand.compute;
    shape.latency = operand.latency;
    return shape;
  }
  schedules::steps_of_rank steps_in(std::uint32_t segments, std::uint32_t part) const {
    return schedules::steps_of(how_, shape_in(segments, part));
  }
  schedules::partition counts_of_part(std::uint32_t segments, std::uint32_t part) const {
    return schedules::counts_of(how_.kind, of_.shape.ranks, of_.bytes * part / segments);
  }
  std::optional<double> time_of_part(std::uint32_t segments, std::uint32_t part, double latest) const {
    const auto all = workload_of(of_.shape.ranks, counts_of_part(segments, part), 1, steps_in(segments, part));
    return completion_by(latest, all, on_.model, &on_.links);
  }
  std::optional<double> time_of(std::uint32_t segments, double latest) const {
    const std::uint32_t most = simulated_segments();
    if (segments <= most) return time_of_part(segments, segments, latest);
    const auto half = time_of_part(segments, most / 2, latest);
    const auto whole = half ? time_of_part(segments, most, latest) : std::nullopt;
    if (!whole) return std::nullopt;
    const double next = std::max((*whole - *half) / (most / 2), least_time(segments) / segments);
    return *whole + (segments - most) * next;
  }
  /// That are simulated: a power of two.
  std::uint32_t simulated_segments() const {
    const std::uint64_t fit = most_simulated / std::max<std::uint64_t>(loads_.messages, 1);
    return std::max(least_simulated_segments, static_cast<std::uint32_t>(std::bit_floor(fit)));
  }

  const schedules::algorithm& how_;
  const int degree_;
  const formula_call& of_;
  const priced_network& on_;
  const path_costs each_, plain_;
  const traffic loads_;
};

/// Upward while that is faster; if not at all, downward.
void search_segments(const timed_algorithm& timed, std::uint32_t least, network_prediction& best) {
  const std::uint32_t first = best.predicted.segments;
  const auto improves = [&](std::uint32_t segments) {
    if (!timed.is_simulated(segments)) return false;
    const auto other = timed.simulated(segments, best.predicted.seconds);
    if (other) best = *other;
    return other.has_value();
  };
  std::uint32_t segments = first;
  while (2 * segments <= schedules::most_segments && improves(2 * segments)) segments *= 2;
  if (segments > first) return;
  while (segments / 2 >= least && improves(segments / 2)) segments /= 2;
}

}  // namespace

network_prediction predict(const schedules::prediction& alone, const formula_call& of, const priced_network& on,
                           double worth) {
  const schedules::algorithm& how = *alone.how;
  const timed_algorithm timed(alone, of, on);
  const std::uint32_t least = schedules::segments_of(how, of.shape.ranks, of.bytes, of.segment);
  std::uint32_t first = alone.segments;
  while (first / 2 >= least && !timed.is_simulated(first)) first /= 2;
  if (!timed.is_simulated(first)) return timed.bound(alone.segments);
  // In another number of segments it may yet be worth it.
  constexpr double slack = 1.5;
  std::optional<network_prediction> best = timed.simulated(first, slack * worth);
  if (best && (how.parameters & schedules::takes::segments) != 0) search_segments(timed, least, *best);
  if (best && best->predicted.seconds < worth) return *best;
  return {{&how, alone.segments, std::numeric_limits<double>::infinity(), alone.degree}};
}

}  // namespace weft::simulator
