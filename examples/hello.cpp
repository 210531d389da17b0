// SPDX-License-Identifier: Apache-2.0
// Every rank gives its number; all of them get the sum.
#include <array>
#include <cstdio>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    runtime.run([](weft::communicator& world) {
      const std::array<double, 2> mine{1.0, static_cast<double>(world.rank())};
      std::array<double, 2> all{};
      world.allreduce(mine, all, weft::sum);
      std::printf("rank %d of %d: %g ranks, whose numbers add up to %g\n", world.rank(), world.size(), all[0], all[1]);
    });
  } catch (const weft::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
