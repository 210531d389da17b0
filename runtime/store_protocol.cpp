#include "store_protocol.hpp"

#include <span>
#include <vector>

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

}  // namespace weft::store_protocol
