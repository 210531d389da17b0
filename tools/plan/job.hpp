// What `weft plan` is asked to plan.
#pragma once

#include <optional>
#include <string>
#include <weft/algorithms/named_algorithm.hpp>

namespace weft::tools {

struct plan_job {
  const schedules::algorithm* how = nullptr;
  schedules::algorithm_arguments shape;
  std::optional<std::size_t> bytes;  ///< of the vector; of an all-to-all, one rank's input
};

steps_of_rank steps_of(const plan_job& job);

schedules::partition counts_of(const plan_job& job, std::size_t bytes);

/// "ring all-reduce, 4 ranks", with the root where there is one.
std::string heading(const plan_job& job);

}  // namespace weft::tools
