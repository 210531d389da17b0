// A tree in ASCII.
#pragma once

#include <functional>
#include <string>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// A line a rank, its children below it and to the right; `label` says what stands for a rank. Takes no stack for
/// depth.
std::string draw_tree(const tree& of, const std::function<std::string(int rank)>& label);

}  // namespace weft::schedules
