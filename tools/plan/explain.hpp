// SPDX-License-Identifier: Apache-2.0
// Why a collective takes which algorithm: what each alternative is predicted to take.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/choice/tuning.hpp>
#include <weft/schedules/prediction.hpp>
#include <weft/schedules/selection.hpp>
#include <weft/topology/network.hpp>

namespace weft::tools {

/// Where the ranks of a call are.
struct call_network {
  std::string file;
  topology::network switches;
  std::vector<int> machine_of_rank;  ///< index in network::machines
  std::optional<double> link_gap;    ///< seconds for each byte, of a link each way; nothing: as the ranks' own
};

/// Rings go round as the switches lie, the ranks below one switch are a group, those on one machine a node.
void place_on(const call_network& network, schedules::algorithm_arguments& shape);

/// A call, and where it runs.
struct explained_call {
  schedules::collective kind = schedules::collective::allreduce;
  schedules::algorithm_arguments shape;
  std::size_t bytes = 8;  ///< of the vector; of an all-to-all, one rank's input
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  std::optional<schedules::road> over;           ///< nothing: the longest that was measured
  const schedules::algorithm* wanted = nullptr;  ///< null: the fastest
  std::size_t segment = 512 << 10;               ///< bytes that none of its segments exceeds
  std::optional<call_network> on;                ///< whose links messages share; its ranks are placed in `shape`
};

struct alternative : schedules::prediction {
  double alone = 0;      ///< seconds by the formula, which knows of no network
  double simulated = 0;  ///< seconds by `weft sim` on the network, where there is one; 0: it is not simulated
};

struct explanation {
  std::vector<alternative> alternatives;  ///< the fastest first
  schedules::selected chosen;
  const schedules::algorithm* by_length = nullptr;  ///< what is taken where nothing is measured
  schedules::road over = schedules::road::node;
  std::string why;  ///< the choice, in a sentence
};

/// By what was measured; on a network, as jobs on it choose, where every message goes over the same road. Throws
/// std::invalid_argument where no algorithm serves the call, and where links have no speed.
explanation explain(const explained_call& call, const detail::tuning& measured);

/// A line an alternative, the fastest first, the choice marked; `source` says where the parameters come from.
std::string explanation_as_text(const explained_call& call, const explanation& made, const std::string& source);
/// An object; `alternatives` has one for each, with the keys algorithm, segments, predicted_us and chosen; on a network
/// also alone_us, and simulated_us where it is.
std::string explanation_as_json(const explained_call& call, const explanation& made, const std::string& source);

}  // namespace weft::tools
