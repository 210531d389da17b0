// What `weft plan` is asked to plan.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/schedules/greedy_tree.hpp>

#include "named_algorithm.hpp"

namespace weft::tools {

struct plan_job {
  const schedules::algorithm* how = nullptr;
  schedules::algorithm_arguments shape;
  schedules::greedy_limits within;   ///< of the greedy reduction as a tree
  std::optional<std::size_t> bytes;  ///< of the vector; of an all-to-all, one rank's input
};

/// The collective's algorithm of that name, as `spelled` finds it; an empty one is that of its first, of reduce's
/// greedy.
const schedules::algorithm& algorithm_named(schedules::collective of, const std::string& wanted);

/// The options of `weft plan` that an algorithm takes: "--root", "--segments", ...
std::vector<std::string> options_of(const schedules::algorithm& how);

steps_of_rank steps_of(const plan_job& job);

schedules::partition counts_of(const plan_job& job, std::size_t bytes);

/// "ring all-reduce, 4 ranks", with the root where there is one.
std::string heading(const plan_job& job);

}  // namespace weft::tools
