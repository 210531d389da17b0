// SPDX-License-Identifier: Apache-2.0
// The command line of cg.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "serial_solver.hpp"

namespace cg {

struct arguments {
  std::string matrix;        ///< path of a Matrix Market file, or empty
  std::int64_t stencil = 0;  ///< edge of the cube, where there is no file
  stopping_rule stop;
  bool check = false;
  bool json = false;
  bool puts = false;      ///< of cg: the halo goes by notified puts, not by messages
  int save_every = 50;    ///< iterations; of resilient_cg, as the next two
  std::string directory;  ///< where copies are kept on the disk, too, or empty
  /// Iterations at which ranks of the world end themselves, as by SIGKILL.
  std::vector<std::pair<int, int>> deaths;
  std::string help;  ///< not empty where only this is to be printed
};

enum class program { cg, resilient_cg };

/// Throws std::runtime_error, saying what is wrong and what would be right.
arguments parse_arguments(int argc, char** argv, program of = program::cg);

}  // namespace cg
