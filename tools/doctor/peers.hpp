// SPDX-License-Identifier: Apache-2.0
// Whether hosts reach each other: this command once more on each of them, by the remote shell.
//
//   doctor here                                         its peer on a host
//     the remote shell runs `weft doctor-peer OURS`  ->
//        <-- a line: weft's version, where it listens; or what its shell complains of
//     connects to each of these addresses       ----->
//        <-----                                          connects to each of OURS
//        <-- a line: which of OURS it reached, or why none
//     the peer's standard input ends            ----->   it ends
#pragma once

#include <string>
#include <vector>
#include <weft/runtime/options.hpp>

#include "finding.hpp"

namespace weft::tools {

struct peer_settings {
  std::vector<std::string> hosts;
  std::vector<std::string> rsh;             ///< the words that, before a host and a command, run it there
  options parsed;                           ///< which interfaces are taken
  std::vector<std::string> weft_arguments;  ///< that say so, for the peers
};

/// What comes of each host. The limit is 20 seconds for 32 of them.
std::vector<finding> check_peers(const peer_settings& settings);

/// What runs there. `addresses` of who started it have commas between.
void be_peer(const std::string& addresses, const options& parsed);

}  // namespace weft::tools
