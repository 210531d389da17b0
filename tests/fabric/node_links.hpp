// SPDX-License-Identifier: Apache-2.0
// Endpoints that share a node's memory, in one process.
#pragma once

#include <deque>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>
#include <weft/fabric/node_transport.hpp>

#include "fabric/node_of_threads.hpp"

namespace weft_test {

/// Endpoints of processes of one node, which may read each other's memory or not, before others that need not be of it.
inline std::vector<std::unique_ptr<fabric::transport>> on_a_node(
    std::vector<std::unique_ptr<fabric::transport>> outside, bool reads, int others = 0) {
  static std::deque<fabric::arena::joined> kept;  // until all is over: the endpoints use them
  std::vector<int> numbers(outside.size() - static_cast<std::size_t>(others));
  std::iota(numbers.begin(), numbers.end(), 0);
  node_of_threads node(numbers);
  if (!reads) node.records.at(numbers.size() - 1).pid = 1;
  auto shared = node.join();
  for (std::size_t i = 0; i < outside.size(); ++i) {
    auto link = std::make_unique<fabric::node_transport>();
    link->reach_others_by(std::move(outside[i]));
    if (i < numbers.size()) link->share(*kept.emplace_back(std::move(shared[i])).memory);
    outside[i] = std::move(link);
  }
  return outside;
}

}  // namespace weft_test
