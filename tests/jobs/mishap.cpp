// SPDX-License-Identifier: Apache-2.0
// What happens to users' programs. The first argument says what:
//   abort      rank 0 ends by SIGABRT with an array in the node's memory, while the others wait for it
//   hold       say "ready" and wait, with such an array
//   overflow   rank 1 needs more stack than it has
//   handled    the same in a program that has a handler of SIGSEGV of its own
//   fault      rank 1 reads where nothing is
//   reduce     an all-reduce of such arrays
//   throw      exceptions, before and after calls that block
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <weft/weft.hpp>

namespace {

/// Adds numbers up `depth` calls deep, with a page of them in each.
[[gnu::noinline]] int add_up(int depth) {
  volatile int numbers[1024];
  for (int i = 0; i < 1024; ++i) numbers[i] = depth + i;
  const int below = depth == 0 ? 0 : add_up(depth - 1);
  return below + numbers[static_cast<std::size_t>(below) % 1024];
}

void say_that_it_is_handled(int) {
  constexpr std::string_view text = "the program's own handler\n";
  [[maybe_unused]] const auto written = ::write(2, text.data(), text.size());
  ::_exit(3);
}

[[gnu::noinline]] int throw_beyond(std::size_t from) {
  std::array<int, 64> numbers;
  std::iota(numbers.begin(), numbers.end(), 0);
  if (numbers[from % numbers.size()] >= 0) throw std::runtime_error("meant so");
  return numbers[0];
}

int throw_and_catch(weft::communicator& world) {
  int caught = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    try {
      world.barrier();
      caught -= throw_beyond(i);
    } catch (const std::runtime_error&) {
      world.barrier();
      ++caught;
    }
  }
  return caught;
}

void live(const std::string_view how, weft::runtime& runtime, weft::communicator& world) {
  if (how == "throw") {
    std::printf("rank %d caught %d\n", world.rank(), throw_and_catch(world));
    return;
  }
  if (how == "reduce") {
    auto in = runtime.allocate<double>(1 << 20), out = runtime.allocate<double>(1 << 20);
    std::ranges::fill(in, 1.0);
    world.allreduce(in, out, weft::sum);
    std::printf("rank %d: %g in %s memory\n", world.rank(), out[out.size() - 1], out.shared() ? "shared" : "own");
    return;
  }
  auto array = runtime.allocate<char>(1 << 20);
  std::strcpy(array.data(), "what lies in the node's memory");
  world.barrier();
  if (how == "abort" && world.rank() == 0) std::abort();
  if (how == "hold") {
    std::printf("ready\n");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::minutes(1));
  }
  if ((how == "overflow" || how == "handled") && world.rank() == 1) std::printf("%d\n", add_up(1000));
  char* volatile nothing = nullptr;
  if (how == "fault" && world.rank() == 1) *nothing = 1;
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argv[1];
  if (how == "handled") std::signal(SIGSEGV, say_that_it_is_handled);
  try {
    weft::runtime runtime{argc, argv};
    runtime.run([&](weft::communicator& world) { live(how, runtime, world); });
  } catch (const weft::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
