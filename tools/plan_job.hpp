// What `weft plan` is asked to plan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/partition.hpp>

namespace weft::tools {

struct plan_job {
  const schedules::algorithm* how = nullptr;
  schedules::algorithm_arguments shape;
  schedules::greedy_limits within;   ///< of the greedy reduction as a tree
  std::optional<std::size_t> bytes;  ///< of the vector; of an all-to-all, one rank's input
};

/// The collective of that name, which may differ from the tables' in dashes and underscores; bcast is one of broadcast.
/// Throws std::invalid_argument, saying which there are, for another.
schedules::collective collective_named(const std::string& wanted);

/// The same of an algorithm; an empty name is that of the collective's first, of reduce's greedy.
const schedules::algorithm& algorithm_named(schedules::collective of, const std::string& wanted);

/// The options of `weft plan` that an algorithm takes: "--root", "--segments", ...
std::vector<std::string> options_of(const schedules::algorithm& how);

/// Emits one rank's steps. What all ranks share is made once.
using steps_of_rank = std::function<void(int rank, schedules::sink& to)>;
steps_of_rank steps_of(const plan_job& job);

/// Bytes for its blocks, where `bytes` bytes go in.
schedules::partition counts_of(const plan_job& job, std::size_t bytes);

/// "ring all-reduce, 4 ranks", with the root where there is one.
std::string heading(const plan_job& job);

}  // namespace weft::tools
