// SPDX-License-Identifier: Apache-2.0
// cg: conjugate gradients on the ranks of a weft job. Read program.cpp, then conjugate_gradient.cpp.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "program.hpp"

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    return cg::run(runtime, argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cg: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
