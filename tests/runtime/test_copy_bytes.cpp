// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/runtime/copy_bytes.hpp>

#include "catch.hpp"

namespace {

using copy = void (*)(void*, const void*, std::size_t) noexcept;

/// Bytes that differ from their neighbours', and from those of another seed.
std::vector<std::byte> bytes_of(std::size_t count, unsigned seed) {
  std::vector<std::byte> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::byte>((i * 167 + i / 251 + seed) & 0xff);
  return all;
}

/// Whether that copies so many bytes from there to there, and writes nothing beside them.
bool copies(copy by, std::size_t bytes, std::size_t to, std::size_t from) {
  const std::vector<std::byte> source = bytes_of(from + bytes + 64, 1);
  std::vector<std::byte> target = bytes_of(to + bytes + 64, 100), wanted = target;
  for (std::size_t i = 0; i < bytes; ++i) wanted[to + i] = source[from + i];
  by(target.data() + to, source.data() + from, bytes);
  return target == wanted;
}

}  // namespace

TEST_CASE("bytes are copied, of any number and from and to any place", "[copy]") {
  const copy by = GENERATE(copy{weft::copy_bytes}, copy{weft::copy_bytes_to_reader});
  const std::size_t bytes = GENERATE(0, 1, 8, 63, 64, 65, 127, 128, 1000, 1024, 1025, 1087, 1088, 1089, 2047, 2048,
                                     2049, 4096, 4100, 8192, 8193, 100'000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1);
  for (const std::size_t to : {0, 1, 8, 40, 63})
    for (const std::size_t from : {0, 5, 16}) {
      INFO(bytes << " bytes from offset " << from << " to offset " << to);
      REQUIRE(copies(by, bytes, to, from));
    }
}

TEST_CASE("no bytes are copied from nowhere, and none onto themselves", "[copy]") {
  const copy by = GENERATE(copy{weft::copy_bytes}, copy{weft::copy_bytes_to_reader});
  by(nullptr, nullptr, 0);
  std::vector<std::byte> own = bytes_of(5000, 7);
  const std::vector<std::byte> before = own;
  weft::copy_bytes(own.data(), own.data(), own.size());
  CHECK(own == before);
}
