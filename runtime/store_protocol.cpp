// SPDX-License-Identifier: Apache-2.0
#include "store_protocol.hpp"

#include <span>

#include "bytes.hpp"

namespace weft::store_protocol {

proof prove(side whose, const std::string& secret, const handshake& h) {
  std::vector<std::byte> numbers;
  append(numbers, version);
  append(numbers, h.job);
  append(numbers, h.process);
  append(numbers, h.processes);
  return weft::prove(as_bytes(secret), whose == side::launcher ? "weft store, launcher" : "weft store, process",
                     {numbers, h.launcher, h.client});
}

std::vector<std::byte> hello_of(const handshake& h, const std::string& secret) {
  std::vector<std::byte> hello;
  append(hello, magic);
  append(hello, version);
  append(hello, h.process);
  append(hello, h.processes);
  append(hello, std::span<const std::byte>(h.client));
  append(hello, std::span<const std::byte>(prove(side::process, secret, h)));
  return hello;
}

}  // namespace weft::store_protocol
