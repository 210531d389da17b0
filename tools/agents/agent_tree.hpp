// SPDX-License-Identifier: Apache-2.0
// Who starts whom: the launcher starts the first hosts' agents, these start the next ones', and so on, so that nobody
// has to wait for more than so many remote shells. With a degree of 2:
//
//                  launcher
//             ________|________
//            |                 |
//          host 0            host 1
//        ____|____         ____|____
//       |         |       |         |
//     host 2   host 3   host 4   host 5 ...
#pragma once

#include <algorithm>

namespace weft::tools {

inline constexpr int agent_tree_degree = 32;

inline constexpr int launcher_itself = -1;

struct host_range {
  int begin = 0;
  int end = 0;
};

/// The hosts whose agents `starter`, a host or the launcher, starts, of so many in all.
constexpr host_range started_by(int starter, int hosts) {
  const auto first = [hosts](long long node) {
    return static_cast<int>(std::min<long long>(node * agent_tree_degree, hosts));
  };
  return {first(starter + 1), first(starter + 2)};
}

/// Who starts the agent of `host`.
constexpr int starter_of(int host) { return host / agent_tree_degree - 1; }

}  // namespace weft::tools
