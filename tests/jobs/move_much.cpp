// SPDX-License-Identifier: Apache-2.0
// move_much message|sum BYTES: more than 4 GiB, or 2^31 bytes of sums, at once. Every element is looked at.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <weft/weft.hpp>

#include "jobs.hpp"

namespace weft_test {
namespace {

std::span<std::uint32_t> zeroes(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::uint32_t*>(memory), bytes / sizeof(std::uint32_t)};
}

/// Every so many elements one is not zero.
constexpr std::size_t stride = 100'003;
std::uint32_t mark(std::size_t at) { return static_cast<std::uint32_t>(at * 2654435761u) | 1u; }

void paint(std::span<std::uint32_t> memory) {
  for (std::size_t at = 0; at < memory.size(); at += stride) memory[at] = mark(at);
}

void see(std::span<const std::uint32_t> memory) {
  for (std::size_t at = 0; at < memory.size(); ++at)
    if (memory[at] != (at % stride == 0 ? mark(at) : 0))
      throw std::logic_error("element " + std::to_string(at) + " is wrong");
}

void message(weft::communicator& world, std::size_t bytes) {
  const auto memory = zeroes(bytes);
  if (world.rank() == 0) {
    paint(memory);
    world.send(memory, 1, 5);
  } else {
    const auto got = world.recv(memory, 0, 5);
    if (got.bytes != bytes) throw std::logic_error("a message of " + std::to_string(got.bytes) + " bytes");
    see(memory);
  }
}

void sum(weft::communicator& world, std::size_t bytes) {
  const auto memory = zeroes(bytes);
  const std::span<std::int32_t> numbers(reinterpret_cast<std::int32_t*>(memory.data()), memory.size());
  for (std::size_t at = 0; at < numbers.size(); at += stride)
    numbers[at] = static_cast<std::int32_t>(at % 1000) + world.rank();
  world.allreduce(numbers, numbers, weft::sum);
  const std::int32_t n = world.size();
  for (std::size_t at = 0; at < numbers.size(); ++at)
    if (numbers[at] != (at % stride == 0 ? n * static_cast<std::int32_t>(at % 1000) + n * (n - 1) / 2 : 0))
      throw std::logic_error("element " + std::to_string(at) + " of the sum is wrong");
}

}  // namespace

int move_much(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const std::size_t bytes = std::strtoull(argv[3], nullptr, 10);
  std::string_view(argv[2]) == "sum" ? sum(runtime.world(), bytes) : message(runtime.world(), bytes);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "move_much: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
