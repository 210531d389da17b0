// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace weft::schedules {

void check_rank(int ranks, int rank, const char* name) {
  if (ranks < 1) throw std::invalid_argument("a schedule needs at least one rank, not " + std::to_string(ranks));
  if (rank < 0 || rank >= ranks)
    throw std::invalid_argument(std::string(name) + " " + std::to_string(rank) + " is none of the ranks 0 to " +
                                std::to_string(ranks - 1));
}

void check_pipeline(const pipeline& by) {
  if (by.segments < 1) throw std::invalid_argument("a chunk has at least one segment");
  if (by.window < 1) throw std::invalid_argument("a window is at least one receive wide");
}

void check_degree(int degree) {
  if (degree < 2) throw std::invalid_argument("a degree is at least 2, not " + std::to_string(degree));
}

void check_cost(double cost, const char* name) {
  if (!std::isfinite(cost) || cost < 0)
    throw std::invalid_argument(std::string(name) + " cost " + std::to_string(cost) +
                                " is not a finite time of at least 0");
}

}  // namespace weft::schedules
