// SPDX-License-Identifier: Apache-2.0
// Every rank gives its number; all of them get the sum.
#include <cstdio>
#include <weft/weft.hpp>

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    runtime.run([](weft::communicator& world) {
      const int ranks = world.allreduce(1, weft::sum), sum = world.allreduce(world.rank(), weft::sum);
      std::printf("rank %d of %d: %d ranks, whose numbers add up to %d\n", world.rank(), world.size(), ranks, sum);
    });
  } catch (const weft::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
