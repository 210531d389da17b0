// SPDX-License-Identifier: Apache-2.0
// What the ranks of this process do.
#pragma once

#include <weft/weft.hpp>

namespace cg {

/// Solves what the arguments say on all ranks of the job; the first of them prints the result. Returns the exit status,
/// the same in every process.
int run(weft::runtime& runtime, int argc, char** argv);

}  // namespace cg
