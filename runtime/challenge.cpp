// SPDX-License-Identifier: Apache-2.0
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>

namespace weft {
namespace {

const std::uint8_t* octets(const std::byte* bytes) { return reinterpret_cast<const std::uint8_t*>(bytes); }

void update(hmac_sha256_ctx& context, std::span<const std::byte> part) {
  std::uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(std::uint64_t{part.size()} >> (8 * i));
  hmac_sha256_update(&context, sizeof length, length);
  if (!part.empty()) hmac_sha256_update(&context, part.size(), octets(part.data()));
}

}  // namespace

challenge draw_challenge() {
  challenge result;
  // Up to 256 bytes come whole, and not even a signal interrupts them.
  if (::getrandom(result.data(), result.size(), 0) != static_cast<ssize_t>(result.size()))
    throw_system_error(errno, "getrandom", "drawing a challenge");
  return result;
}

std::string make_secret() {
  std::string text;
  for (const std::byte b : draw_challenge())
    for (const int nibble : {std::to_integer<int>(b >> 4), std::to_integer<int>(b & std::byte{15})})
      text += "0123456789abcdef"[nibble];
  return text;
}

proof prove(std::span<const std::byte> secret, std::string_view purpose,
            std::initializer_list<std::span<const std::byte>> parts) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, secret.size(), octets(secret.data()));
  update(context, std::as_bytes(std::span(purpose)));
  for (const auto part : parts) update(context, part);
  proof result;
  hmac_sha256_digest(&context, result.size(), reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
}

bool same_proof(const proof& expected, std::span<const std::byte> given) noexcept {
  return given.size() == expected.size() && nettle_memeql_sec(expected.data(), given.data(), expected.size()) != 0;
}

}  // namespace weft
