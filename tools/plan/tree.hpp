// Reductions and broadcasts over one tree, with the times of their transfers.
#pragma once

#include <string>

#include "job.hpp"

namespace weft::tools {

/// Whether the algorithm is a tree that can be timed: one segment over one tree.
bool is_timed_tree(const plan_job& job);

/// The same in every format, of a timed tree. Throws std::invalid_argument for what the tree does not take.
std::string tree_as_text(const plan_job& job);
std::string tree_as_json(const plan_job& job);
std::string tree_as_dot(const plan_job& job);

}  // namespace weft::tools
