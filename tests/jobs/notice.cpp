// SPDX-License-Identifier: Apache-2.0
// notice VICTIM: rank VICTIM is killed in the middle of sums; the others say how long after that their calls threw, and
// whom these named, and leave the job in order. Started by any launcher that lets the others live. With -1
// nobody is killed: something else is to happen once they have said that they are there.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>
#include <weft/weft.hpp>

#include "board.hpp"
#include "jobs.hpp"

namespace weft_test {
namespace {

constexpr int rounds_before = 20;

/// Sums until a call throws for a loss, and says so: whether it named the victim. In each sum the victim tells when it
/// began, by the clock that all processes of a machine share.
bool sum_until_loss(weft::communicator& world, int victim) {
  std::vector<std::int64_t> in(5'000), out(5'000);
  std::int64_t begun = 0;
  try {
    for (int round = 0;; ++round) {
      std::int64_t now = common_clock();
      world.bcast(std::span(&now, 1), std::max(victim, 0));
      begun = now;
      if (victim < 0 && round == rounds_before) {
        std::printf("rank %d is there\n", world.rank());
        std::fflush(stdout);
      }
      if (world.rank() == victim && round == rounds_before) ::kill(::getpid(), SIGKILL);
      world.allreduce(in, out, weft::sum);
    }
  } catch (const weft::peer_lost& e) {
    std::printf("rank %d lost rank %d after %lld ms: %s\n", world.rank(), e.rank(),
                static_cast<long long>((common_clock() - begun) / 1'000'000), e.what());
    return e.rank() == victim || victim < 0;
  }
}

}  // namespace

int notice(int argc, char** argv) {
  try {
    weft::runtime runtime(argc, argv);
    return sum_until_loss(runtime.world(), std::atoi(argv[2])) ? 0 : 3;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "notice: %s\n", e.what());
    return 3;
  }
}

}  // namespace weft_test
