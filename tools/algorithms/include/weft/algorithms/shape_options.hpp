// SPDX-License-Identifier: Apache-2.0
// The options of `weft plan` and `weft sim` that say what an algorithm looks like.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>

namespace weft::tools {

struct shape_options {
  schedules::algorithm_arguments shape;
  int group_size = 0;
  std::string rank_costs;             ///< a file
  std::vector<std::size_t> segments;  ///< where several are asked for, in place of the shape's
  std::vector<CLI::Option*> options;  ///< those that only some algorithms take
};

/// Adds the options, which set `line`; but for --transfer and --compute, which have other meanings elsewhere. With
/// `several` --segments takes several numbers.
void add_shape_options(CLI::App& app, shape_options& line, bool several);

/// The options that an algorithm takes: "--root", "--segments", ... Among them are --transfer, --compute and
/// --topology.
std::vector<std::string> options_of(const schedules::algorithm& how);

/// Throws CLI::ValidationError for an option that is given though the algorithm takes neither it nor is it one of
/// `others`.
void check_options(const schedules::algorithm& how, const std::vector<CLI::Option*>& options,
                   const std::vector<std::string>& others = {});

/// The shape, with groups in rows and the costs of ranks out of their file. Throws CLI::ValidationError for what does
/// not fit the ranks, and for a file with something else, naming the line.
schedules::algorithm_arguments shape_of(const shape_options& line);

}  // namespace weft::tools
