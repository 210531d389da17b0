// Collectives and their algorithms, found by the names that people give them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/partition.hpp>

namespace weft::tools {

/// What there is in the table of algorithms, the names as the literature has them.
std::vector<std::string> collective_names();
std::vector<std::string> algorithm_names(schedules::collective of);

/// The trees that steps_of knows; reduce and broadcast go over any of them.
std::vector<std::string> tree_names();
bool goes_over_trees(schedules::collective kind);

/// The one of `names` that is meant by `wanted`, which may differ from it in dashes and underscores; bcast is one of
/// broadcast. Throws std::invalid_argument, saying which there are, when it is none: "no `what` is called ...".
std::string spelled(const std::string& wanted, const std::vector<std::string>& names, const std::string& what);

/// The same of all collectives.
schedules::collective collective_named(const std::string& wanted);

/// Emits one rank's steps. What all ranks share is made once.
using steps_of_rank = std::function<void(int rank, schedules::sink& to)>;

/// Of an algorithm by its exact name: a reduction or broadcast over one of tree_names(), or one of the table. Throws
/// std::invalid_argument for what builders refuse.
steps_of_rank steps_of(schedules::collective kind, std::string_view algorithm,
                       const schedules::algorithm_arguments& shape);

/// Bytes for its blocks, where `bytes` bytes go in.
schedules::partition counts_of(schedules::collective kind, int ranks, std::size_t bytes);

}  // namespace weft::tools
