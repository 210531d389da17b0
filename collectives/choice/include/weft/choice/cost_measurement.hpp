// SPDX-License-Identifier: Apache-2.0
// Which processes of a job measure what its roads and kernels cost, and what they make of it together.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>
#include <weft/choice/tuning.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/store.hpp>
#include <weft/topology/network_place.hpp>

namespace weft::detail {

/// A process of a job whose processes are connected.
struct measured_job {
  std::span<const int> node;                          ///< of each process
  std::span<const std::int32_t> first;                ///< of each process: the first of its ranks
  int ranks = 1;                                      ///< of this process
  std::size_t eager = 0;                              ///< bytes of the longest message without handshake
  std::chrono::milliseconds budget{20};               ///< of all that is measured, roughly
  std::span<const topology::network_place> places{};  ///< of each process; empty: all are in one cluster
  int connections = 1;                                ///< pairs that measure the line between two clusters at a time
};

/// Measures with at most one other process of the node, one of another node and one of another cluster, whatever the
/// job's size: the first two processes of each node, the first processes of two nodes of a cluster each, and some of
/// two clusters, all pairs of a kind at the same time; the first process of a node also its own memory, where it hosts
/// several ranks, and the kernels. Then the medians of what all measured, the same to the bit on every process; nothing
/// where there is no road. Blocks. Throws peer_lost when one of them is lost, and as store::gather does.
std::optional<tuning> measure_costs(const measured_job& in, fabric::messenger& messages, progress& by,
                                    store& rendezvous, store::clock::time_point deadline);

/// The medians of each parameter over those parts that have it.
tuning combined(std::span<const tuning> parts);

}  // namespace weft::detail
