// SPDX-License-Identifier: Apache-2.0
// Host files; with 0 in front, what stands behind --hosts.
#include <weft/launch/hosts.hpp>
#include <weft/runtime/error.hpp>

#include "input.hpp"

using namespace weft::tools;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static weft_fuzz::file file;
  weft_fuzz::input from(data, size);
  const bool list = size != 0 && data[0] == 0;
  if (list) from.take();
  const int ranks_per_process = 1 + static_cast<int>(size % 3);
  try {
    const auto content = from.rest();
    const auto hosts = list ? parse_hosts(std::string(weft_fuzz::text_of(content))) : read_hostfile(file.with(content));
    weft_fuzz::require(!hosts.empty());
    int ranks = 0;
    for (const auto& share : allot(hosts, {0, 0, ranks_per_process})) {
      weft_fuzz::require(share.ranks > 0 && share.processes.count > 0);
      ranks += share.ranks;
    }
    weft_fuzz::require(ranks > 0);
  } catch (const weft::error& refused) {
    weft_fuzz::require(refused.code() == weft::errc::invalid_argument);
  }
  return 0;
}
