#include "store_protocol.hpp"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <sys/random.h>

#include <cerrno>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "bytes.hpp"

namespace weft {
namespace store_protocol {
namespace {

void digest(hmac_sha256_ctx& context, std::span<const std::byte> data) {
  hmac_sha256_update(&context, data.size(), reinterpret_cast<const std::uint8_t*>(data.data()));
}

}  // namespace

proof prove(prover who, const std::string& secret, const handshake& h) {
  std::vector<std::byte> fields;
  append(fields, magic);
  append(fields, version);
  append(fields, static_cast<std::uint8_t>(who));
  append(fields, h.job);
  append(fields, h.process);
  append(fields, h.processes);
  append(fields, std::span<const std::byte>(h.launcher));
  append(fields, std::span<const std::byte>(h.client));
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, secret.size(), reinterpret_cast<const std::uint8_t*>(secret.data()));
  digest(context, fields);
  proof result;
  hmac_sha256_digest(&context, result.size(), reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
}

bool equal(const proof& a, const proof& b) noexcept { return memeql_sec(a.data(), b.data(), a.size()) != 0; }

nonce make_nonce() {
  nonce result;
  // Up to 256 bytes come whole, once the kernel's generator is seeded.
  while (::getrandom(result.data(), result.size(), 0) != static_cast<ssize_t>(result.size()))
    if (errno != EINTR) throw_system_error(errno, "getrandom", "making a nonce");
  return result;
}

}  // namespace store_protocol

std::string make_secret() {
  std::string text;
  for (const std::byte b : store_protocol::make_nonce())
    for (const int nibble : {std::to_integer<int>(b >> 4), std::to_integer<int>(b & std::byte{15})})
      text += "0123456789abcdef"[nibble];
  return text;
}

}  // namespace weft
