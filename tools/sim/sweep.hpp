// SPDX-License-Identifier: Apache-2.0
// Jobs that differ in their algorithm, ranks, bytes, segments and seed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <weft/algorithms/shape_options.hpp>
#include <weft/sim/workload.hpp>

#include "network.hpp"
#include "noise_option.hpp"

namespace weft::tools {

/// What jobs have in common, and what each of them may be. No list is empty.
struct sim_sweep {
  std::vector<const schedules::algorithm*> algorithms;  ///< of one collective
  std::vector<std::size_t> ranks, bytes{8}, segments{1}, seeds{0};
  shape_options shaped;
  simulator::machine_model model;  ///< but for noise
  noise_option noise;
  network_options network;
  bool as_loggopsim = false;
};

struct sweep_point {
  const schedules::algorithm* how = nullptr;
  std::size_t ranks = 1, bytes = 0, segments = 1, seed = 0;
};

/// Every one, by algorithm, then by ranks, and so on; in one segment where the algorithm takes none. Throws
/// CLI::ValidationError where there are too many.
std::vector<sweep_point> points_of(const sim_sweep& of);

struct placed_job {
  sim_job job;
  simulator::machine_model model;
  std::optional<placed_network> on;
};

/// Throws what shape_of and place_on do.
placed_job job_of(const sim_sweep& of, const sweep_point& at);

struct sweep_row {
  sweep_point at;
  std::optional<double> predicted;
  double simulated = 0;
};

/// The same as simulating each alone, on `threads` threads at a time; `row` is called in the order of the points.
/// Points that an algorithm refuses, such as a torus of other sizes, are left out, and `refused` is called with the
/// reason.
void simulate_all(const sim_sweep& of, const std::vector<sweep_point>& points, std::size_t threads,
                  const std::function<void(const sweep_row&)>& row,
                  const std::function<void(const sweep_point&, const std::string&)>& refused);

/// Comma-separated values: a line that says what is in the columns, with units, and one of a row. Times have all their
/// digits.
std::string csv_head();
std::string csv_line(const sweep_row& of);

}  // namespace weft::tools
