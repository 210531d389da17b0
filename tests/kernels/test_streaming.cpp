// SPDX-License-Identifier: Apache-2.0
// Targets larger than the caches.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "arena.hpp"
#include "catch.hpp"
#include "seed.hpp"
#include "streaming.hpp"
#include "targets.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using namespace weft_test;

TEST_CASE("targets that are written past the caches hold the same as those that are not") {
  // Long enough for streaming stores, in pieces that are not; in one pass, and block by block.
  const std::size_t sources = GENERATE(std::size_t{5}, std::size_t{16});
  const std::size_t bytes = streaming_bytes() / (sources + 1) + 77;
  constexpr std::size_t piece = large_bytes / 2;
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> source(bytes + margin), whole(bytes + 2 * margin), pieces(bytes);
  for (std::byte& each : source) each = std::byte(random() % 3);
  on_every_target([&](const std::string&) {
    for (const auto& [op, element] : {std::pair{operation::sum, type::uint8}, std::pair{operation::max, type::float16},
                                      std::pair{operation::bit_xor, type::uint64}})
      for (const std::size_t shift : {0, 56}) {
        CAPTURE(sources, name(op), name(element), shift);
        const std::size_t size = size_of(element), count = bytes / size;
        const combine_function function = combine(op, element);
        const auto call = [&](std::size_t first, std::size_t elements, std::byte* to) {
          std::array<const void*, 16> from{};
          for (std::size_t k = 0; k < sources; ++k) from[k] = source.data() + k % 3 * size + first * size;
          function(from.data(), sources, to, elements);
        };
        std::fill(whole.begin(), whole.end(), poison);
        call(0, count, whole.data() + shift);
        for (std::size_t first = 0; first < count; first += piece / size)
          call(first, std::min(piece / size, count - first), pieces.data() + first * size);
        CHECK(std::memcmp(whole.data() + shift, pieces.data(), count * size) == 0);
        CHECK(std::all_of(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(shift),
                          [](std::byte b) { return b == poison; }));
        CHECK(std::all_of(whole.begin() + static_cast<std::ptrdiff_t>(shift + count * size), whole.end(),
                          [](std::byte b) { return b == poison; }));
      }
  });
}
