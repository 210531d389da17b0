// SPDX-License-Identifier: Apache-2.0
// memory_taken: what a process's heap holds for each communicator and plan that has been used is within the figures of
// ARCHITECTURE.md, and comes back.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "heap_in_use.hpp"

namespace {

constexpr std::size_t many = 64;

/// Each of `many` of what `make` gives holds at most `most` bytes of the heap for each rank that lives here. Called by
/// all ranks.
template <class Make>
void check(weft::communicator& world, std::size_t ranks_here, const char* name, std::size_t most, Make&& make) {
  make();  // what is made once for all
  world.barrier();
  const std::size_t before = weft_test::heap_in_use();
  world.barrier();
  std::size_t held = 0;
  {
    std::vector<decltype(make())> all;
    for (std::size_t i = 0; i < many; ++i) all.push_back(make());
    world.barrier();
    const std::size_t now = weft_test::heap_in_use();
    world.barrier();
    held = now - std::min(now, before);
  }
  world.barrier();
  const std::size_t after = weft_test::heap_in_use(), left = after - std::min(after, before);
  world.barrier();
  std::printf("%s: %zu B a rank, on rank %d; of %zu there are %zu B left\n", name, held / many / ranks_here,
              world.rank(), many, left);
  if (held > most * many * ranks_here || left > held / 4 + most)
    throw std::logic_error(std::string(name) + " holds more than " + std::to_string(most) + " bytes, or keeps them");
}

}  // namespace

int main(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  runtime.run([&](weft::communicator& world) {
    const auto here = static_cast<std::size_t>(argc > 1 ? std::stoi(argv[1]) : 1);
    std::vector<double> in(1000, 1), out(1000);
    check(world, here, "a communicator", 32 << 10, [&] { return world.dup(); });
    check(world, here, "a communicator that has been used", 64 << 10, [&] {
      weft::communicator made = world.dup();
      made.allreduce(in, out, weft::sum);
      made.iallreduce(in, out, weft::sum).wait();
      return made;
    });
    check(world, here, "a plan", 64 << 10, [&] {
      weft::plan made = world.plan_allreduce(in, out, weft::sum);
      made.start();
      made.wait();
      return made;
    });
  });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "memory_taken: %s\n", e.what());
  return 3;
}
