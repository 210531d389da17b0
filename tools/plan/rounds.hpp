// A schedule as rounds, for people to see.
#pragma once

#include <string>

#include "job.hpp"

namespace weft::tools {

/// What goes to whom in each round, where a rank sends and receives at most one message at a time, a message takes a
/// round and everything else no time: a column a rank where that fits into 120 characters, else a line a message.
/// In brackets the blocks of the vector that the message carries.
std::string draw_rounds(const plan_job& job);

}  // namespace weft::tools
