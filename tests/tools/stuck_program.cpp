// SPDX-License-Identifier: Apache-2.0
// What the tests of `weft ps` start: ranks that sum again and again, until one of them does something else.
//   stuck_program HOW RANK   HOW: recv (of 8 bytes from rank 0, tag 7), tag (the same, where rank 0 sends with tag 8),
//   spin, sleep (both in this program's own code), stop (its process), start (it waits for a started sum that the
//   others do not start), probe, mutex (a std::mutex that the rank before it holds, which yields meanwhile)
// For some seconds, then the program ends:
//   work (in its own code, while the others yield), alone (while the others wait for it), yield (all do),
//   blocking (by runtime.blocking, while the others yield)
// die: the process ends, and the others go on without it
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>
#include <weft/weft.hpp>

namespace {

volatile bool for_ever = true;

[[gnu::noinline]] void wait_for_message(weft::communicator& world) {
  double never = 0;
  world.recv(std::span(&never, 1), 0, 7);  // here it is stuck
  for_ever = false;
}

[[gnu::noinline]] void spin_in_own_code() {
  unsigned long turns = 0;
  while (for_ever) turns = turns + 1;  // here it spins
  std::printf("%lu\n", turns);
}

[[gnu::noinline]] void sleep_in_own_code() {
  while (for_ever) ::usleep(10'000'000);
}

[[gnu::noinline]] void wait_for_started(weft::communicator& world) {
  double mine = 1, sum = 0;
  world.iallreduce(std::span(&mine, 1), std::span(&sum, 1), weft::sum).wait();
  for_ever = false;
}

[[gnu::noinline]] void look_for_message(weft::communicator& world) {
  world.probe(0, 7);
  for_ever = false;
}

[[gnu::noinline]] void sum_with_others(weft::communicator& world) {
  double mine = 1, sum = 0;
  world.allreduce(std::span(&mine, 1), std::span(&sum, 1), weft::sum);  // here the others wait
  for_ever = sum != 0;
}

std::mutex never_free;
bool is_held = false;  // of ranks of one thread

[[gnu::noinline]] void lock_forever(weft::runtime& runtime) {
  while (!is_held) runtime.yield();
  never_free.lock();  // here it keeps its thread
  for_ever = false;
}

[[noreturn]] void hold_lock(weft::runtime& runtime) {
  never_free.lock();
  is_held = true;
  while (true) runtime.yield();
}

/// For longer than it takes until a kept thread is noticed.
template <class Part>
void for_some_seconds(Part&& part) {
  using clock = std::chrono::steady_clock;
  for (const auto end = clock::now() + std::chrono::seconds(5); clock::now() < end;) part();
}

[[gnu::noinline]] void work_in_own_code() {
  for_some_seconds([] {});  // here it works
}

void take_part(weft::runtime& runtime, const std::string& how, int rank, int who) {
  const bool is_it = rank == who;
  if (how == "mutex" && rank == who - 1) hold_lock(runtime);
  if (how == "mutex" && is_it) lock_forever(runtime);
  if (is_it && how == "alone") runtime.sleep(std::chrono::milliseconds(200));  // the others come to where they wait
  if (is_it && (how == "work" || how == "alone")) return work_in_own_code();
  if (is_it && how == "blocking") return runtime.blocking([] { std::this_thread::sleep_for(std::chrono::seconds(5)); });
  if (how == "work" || how == "yield" || how == "blocking") for_some_seconds([&] { runtime.yield(); });
}

/// Whoever does so ends well.
void go_on_without(weft::communicator& world, bool dies) {
  if (dies) ::raise(SIGKILL);
  try {
    sum_with_others(world);
  } catch (const weft::peer_lost& lost) {
    std::printf("rank %d is lost\n", lost.rank());
  }
}

void get_stuck(weft::communicator& world, const std::string& how) {
  if (how == "recv" || how == "tag") wait_for_message(world);
  if (how == "spin") spin_in_own_code();
  if (how == "sleep") sleep_in_own_code();
  if (how == "stop") ::raise(SIGSTOP);
  if (how == "start") wait_for_started(world);
  if (how == "probe") look_for_message(world);
}

}  // namespace

int main(int argc, char** argv) {
  weft::runtime runtime(argc, argv);
  const std::string how = argc > 1 ? argv[1] : "recv";
  const int who = argc > 2 ? std::atoi(argv[2]) : 0;
  runtime.run([&](weft::communicator& world) {
    for (int i = 0; i < 841; ++i) sum_with_others(world);
    if (world.rank() == 0) {
      std::printf("stuck\n");
      std::fflush(stdout);
    }
    if (world.rank() == who) get_stuck(world, how);
    if (how == "tag" && world.rank() == 0) world.send(std::vector<double>{1}, who, 8);
    if (how == "die") return go_on_without(world, world.rank() == who);
    take_part(runtime, how, world.rank(), who);
    if (how == "start" && world.rank() != who) sleep_in_own_code();
    sum_with_others(world);
  });
}
