// SPDX-License-Identifier: Apache-2.0
#include "sweep.hpp"

#include <stdexcept>
#include <variant>
#include <weft/simulator/loggopsim.hpp>
#include <weft/simulator/simulate.hpp>

#include "in_order.hpp"
#include "prediction.hpp"
#include "report.hpp"

namespace weft::tools {
namespace {

/// More than this are taken for a mistake.
constexpr std::size_t most_points = 1'000'000;

double simulated_time(const placed_job& of, bool as_loggopsim) {
  if (as_loggopsim) return simulator::simulate_as_loggopsim(workload_of(of.job, of.model), of.model).completion;
  if (of.on) return simulator::simulate(workload_of(of.job, of.model), of.model, &of.on->links).completion;
  return simulator::simulate(shortest_workload_of(of.job, of.model).steps, of.model).completion;
}

}  // namespace

std::vector<sweep_point> points_of(const sim_sweep& of) {
  const std::size_t for_each_algorithm = of.ranks.size() * of.bytes.size() * of.seeds.size();
  const std::vector<std::size_t> one{1};
  std::vector<sweep_point> points;
  for (const schedules::algorithm* const how : of.algorithms) {
    const auto& all_segments = (how->parameters & schedules::takes::segments) != 0 ? of.segments : one;
    if (for_each_algorithm > most_points / all_segments.size() ||
        points.size() + for_each_algorithm * all_segments.size() > most_points)
      throw CLI::ValidationError("a sweep", "more than " + std::to_string(most_points) + " points: take fewer ranks, " +
                                                "sizes, algorithms, segments or seeds");
    for (const std::size_t ranks : of.ranks)
      for (const std::size_t bytes : of.bytes)
        for (const std::size_t segments : all_segments)
          for (const std::size_t seed : of.seeds) points.push_back({how, ranks, bytes, segments, seed});
  }
  return points;
}

placed_job job_of(const sim_sweep& of, const sweep_point& at) {
  const int ranks = static_cast<int>(at.ranks);
  shape_options shaped = of.shaped;
  shaped.shape.ranks = ranks;
  shaped.shape.by.segments = static_cast<std::uint32_t>(at.segments);
  placed_job made{{at.how, shape_of(shaped), at.bytes}, of.model, std::nullopt};
  made.model.noise = drawn(of.noise, at.seed);
  if (of.network.topology.empty()) return made;
  made.on = place_on(of.network, ranks, of.model.gap_per_byte, at.seed);
  if (of.network.in_order) made.job.shape.order = made.on->ring;
  return made;
}

void simulate_all(const sim_sweep& of, const std::vector<sweep_point>& points, std::size_t threads,
                  const std::function<void(const sweep_row&)>& row,
                  const std::function<void(const sweep_point&, const std::string&)>& refused) {
  struct refusal {
    sweep_point at;
    std::string why;
  };
  using outcome = std::variant<sweep_row, refusal>;
  in_order(
      points.size(), threads,
      [&](std::size_t i) -> outcome {
        try {
          const placed_job placed = job_of(of, points[i]);
          const double simulated = simulated_time(placed, of.as_loggopsim);
          return sweep_row{points[i], predicted_time(placed.job, placed.model), simulated};
        } catch (const std::invalid_argument& failure) {
          return refusal{points[i], failure.what()};
        }
      },
      [&](const outcome& made) {
        if (const auto* const not_done = std::get_if<refusal>(&made)) return refused(not_done->at, not_done->why);
        row(std::get<sweep_row>(made));
      });
}

std::string csv_head() { return "collective,algorithm,ranks,bytes,segments,seed,predicted_ns,simulated_ns\n"; }

std::string csv_line(const sweep_row& of) {
  const auto comma = [](std::size_t number) { return "," + std::to_string(number); };
  return std::string(name(of.at.how->kind)) + "," + std::string(of.at.how->name) + comma(of.at.ranks) +
         comma(of.at.bytes) + comma(of.at.segments) + comma(of.at.seed) + "," +
         (of.predicted ? exact_text(*of.predicted) : "") + "," + exact_text(of.simulated) + "\n";
}

}  // namespace weft::tools
