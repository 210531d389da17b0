// SPDX-License-Identifier: Apache-2.0
// away KIND BOARD: rank 1 computes for four seconds outside weft, rank 2 is killed meanwhile, and rank 0 waits for a
// message. KIND: of rank 2, of anybody, or, long, of rank 1, which has announced it.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <weft/weft.hpp>

#include "board.hpp"
#include "jobs.hpp"

namespace weft_test {
namespace {

using namespace std::chrono_literals;

void compute_for(std::chrono::seconds time) {
  volatile double sum = 0;
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
    for (int i = 0; i < 1000; ++i) sum = sum + 1e-3 * i;
}

void be_killed(board_line& line) {
  std::this_thread::sleep_for(500ms);
  line.struck_at = common_clock();
  ::kill(::getpid(), SIGKILL);
}

void receive(weft::communicator& world, std::string_view kind, board_line& line) {
  std::vector<std::byte> memory(4 << 20);
  try {
    if (kind == "other") world.recv(std::span(memory).first(8), 2, 1);
    if (kind == "anybody") world.recv(std::span(memory).first(8));
    if (kind == "long") world.recv(memory, 1, 1);
    line.say(verdict::wrong, "a message came that nobody sent");
  } catch (const weft::peer_lost& e) {
    line.noticed_at = common_clock();
    line.lost_rank = e.rank();
    line.say(verdict::lost, e.what());
  }
}

}  // namespace

int away(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  weft::communicator& world = runtime.world();
  const std::string_view kind = argv[2];
  const board shared(argv[3]);
  board_line& line = shared[world.rank()];
  world.barrier();
  if (world.rank() == 2) be_killed(line);
  if (world.rank() == 0) receive(world, kind, line);
  if (world.rank() == 1) {
    std::vector<std::byte> memory(4 << 20);
    auto sending = kind == "long" ? world.isend(memory, 0, 1) : weft::handle();
    compute_for(4s);
    try {
      if (kind == "long") sending.wait();
      world.barrier();
    } catch (const weft::peer_lost& e) {
      line.noticed_at = common_clock();
      line.lost_rank = e.rank();
      line.say(verdict::lost, e.what());
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "away: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
