// SPDX-License-Identifier: Apache-2.0
// exchange: the messages that no provider may stumble over. Run with two ranks or more; where a process hosts several,
// one of each process takes nothing while the others talk.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <vector>
#include <weft/weft.hpp>

#include "jobs.hpp"
#include "parts.hpp"
#include "sanitized.hpp"

namespace weft_test {
namespace {

constexpr int many = slowed ? 2'000 : 10'000;

void require(bool right, const char* what) {
  if (!right) throw std::logic_error(what);
}

std::byte mark(int number, std::size_t at) { return static_cast<std::byte>(number * 31 + static_cast<int>(at)); }

std::vector<std::byte> message(std::size_t bytes, int number) {
  std::vector<std::byte> text(bytes);
  for (std::size_t i = 0; i < bytes; ++i) text[i] = mark(number, i);
  return text;
}

void take_all(weft::communicator& world, std::size_t bytes, int count) {
  std::vector<std::byte> got(bytes);
  for (int i = 0; i < count; ++i) {
    std::fill(got.begin(), got.end(), std::byte{0});
    require(world.recv(got, 0, 1).bytes == bytes, "a message of another length");
    require(got == message(bytes, i), "messages out of order, or changed");
  }
}

/// Rank 0 sends `count` messages with tag 1, then one with tag 2, which rank 1 takes first.
void last_first(weft::communicator& world, std::size_t bytes, int count, bool started) {
  if (world.rank() == 0) {
    std::vector<std::vector<std::byte>> kept;
    std::vector<weft::handle> sends;
    for (int i = 0; i < count; ++i) {
      kept.push_back(message(bytes, i));
      if (started)
        sends.push_back(world.isend(kept.back(), 1, 1));
      else
        world.send(kept.back(), 1, 1);
    }
    world.send(message(8, 5), 1, 2);
    weft::wait_all(sends);
  } else if (world.rank() == 1) {
    std::vector<std::byte> got(8);
    world.recv(got, 0, 2);
    require(got == message(8, 5), "the last message");
    take_all(world, bytes, count);
  }
  world.barrier();
}

/// Barriers, and a sum, while messages wait that nobody has asked for.
void barrier_past_waiting(weft::communicator& world, std::size_t bytes, int count) {
  std::vector<weft::handle> sends;
  std::vector<std::vector<std::byte>> kept;
  for (int i = 0; world.rank() == 0 && i < count; ++i) {
    kept.push_back(message(bytes, i));
    sends.push_back(world.isend(kept.back(), 1, 1));
  }
  for (int i = 0; i < 5; ++i) world.barrier();
  std::vector<double> ones(20'000, 1.0), sums(20'000);
  world.allreduce(ones, sums, weft::sum);
  require(sums.front() == world.size() && sums.back() == world.size(), "the sum beside waiting messages");
  if (world.rank() == 1) take_all(world, bytes, count);
  weft::wait_all(sends);
  world.barrier();
}

/// The last rank of each process gets messages and takes none of them until the others have talked.
void one_takes_nothing(weft::communicator& world, int each) {
  const int next = (world.rank() + each) % world.size();
  const int before = (world.rank() + world.size() - each) % world.size();
  const bool idle = world.rank() % each == each - 1;
  std::vector<std::byte> text(200), got(200);
  if (idle) {
    world.recv(got, world.rank() - each + 1, 9);
    for (int i = 0; i < 2'000; ++i) world.recv(got, before - each + 1, 3);
  } else if (world.rank() % each == 0) {
    for (int i = 0; i < 2'000; ++i) world.send(text, next + each - 1, 3);
    for (int i = 0; i < 300; ++i) require(world.sendrecv(text, next, 4, got, before, 4).bytes == 200, "talk");
    std::vector<std::byte> large(300'000), taken(300'000);
    for (int i = 0; i < 5; ++i) world.sendrecv(large, next, 5, taken, before, 5);
    world.send(text, world.rank() + each - 1, 9);
  }
  world.barrier();
}

}  // namespace

void exchange_messages(weft::communicator& world, std::size_t bytes, int count) {
  last_first(world, bytes, count, true);
  barrier_past_waiting(world, bytes, count);
}

int exchange(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const int each = std::atoi(std::getenv("WEFT_RANKS_PER_PROCESS"));
  runtime.run([&](weft::communicator& world) {
    if (each > 1) return one_takes_nothing(world, each);
    for (const std::size_t bytes : {0, 8, 200, 4096, 20'000}) {
      const auto begin = std::chrono::steady_clock::now();
      const bool granted = bytes > 8192;
      last_first(world, bytes, granted ? 300 : many, granted);
      const auto between = std::chrono::steady_clock::now();
      barrier_past_waiting(world, bytes, granted ? 300 : many);
      const auto end = std::chrono::steady_clock::now();
      if (world.rank() == 0)
        std::printf("%zu B: %.2f s, past a barrier %.2f s\n", bytes,
                    std::chrono::duration<double>(between - begin).count(),
                    std::chrono::duration<double>(end - between).count());
    }
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "exchange: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
