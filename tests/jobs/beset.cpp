// SPDX-License-Identifier: Apache-2.0
// beset BOARD: sums, and counts the sums, until the kind of the board's first line is not 0.
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <weft/weft.hpp>

#include "board.hpp"
#include "jobs.hpp"

namespace weft_test {

int beset(int argc, char** argv) {
  const board shared(argv[2]);
  weft::runtime runtime(argc, argv);
  weft::communicator& world = runtime.world();
  board_line& line = shared[world.rank()];
  line.pid = ::getpid();
  for (bool over = false; !over; ++line.round) {
    const std::array<int, 2> mine{1, world.rank() == 0 ? shared[0].kind.load() : 0};
    std::array<int, 2> sums{};
    world.allreduce(mine, sums, weft::sum);
    if (sums[0] != world.size()) throw std::runtime_error("a sum of all");
    over = sums[1] != 0;
  }
  line.say(verdict::done, "");
  return 0;
}

}  // namespace weft_test
