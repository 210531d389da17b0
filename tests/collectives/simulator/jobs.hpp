// SPDX-License-Identifier: Apache-2.0
// Workloads for tests.
#pragma once

#include <initializer_list>
#include <random>
#include <utility>
#include <vector>
#include <weft/schedules/builders.hpp>
#include <weft/simulator/simulate.hpp>
#include <weft/simulator/workload_builder.hpp>

namespace weft_test {

/// A step, and the earlier ones that must have ended before.
struct written_step {
  weft::simulator::operation what;
  std::vector<weft::simulator::step_index> after;
};

inline written_step send(int peer, std::uint64_t bytes, std::vector<weft::simulator::step_index> after = {}) {
  return {{weft::simulator::operation_kind::send, peer, 0, bytes}, after};
}
inline written_step receive(int peer, std::uint64_t bytes, std::vector<weft::simulator::step_index> after = {}) {
  return {{weft::simulator::operation_kind::receive, peer, 0, bytes}, after};
}
inline written_step combine(std::uint64_t bytes, std::vector<weft::simulator::step_index> after = {}) {
  return {{weft::simulator::operation_kind::combine, -1, 0, bytes}, after};
}
inline written_step calculate(std::uint64_t time, std::vector<weft::simulator::step_index> after = {}) {
  return {{weft::simulator::operation_kind::calculate, -1, 0, time}, after};
}

inline weft::simulator::workload job_of(const std::vector<std::vector<written_step>>& ranks) {
  weft::simulator::workload_builder made;
  for (const auto& steps : ranks) {
    for (const auto& [what, after] : steps) made.add(what, after);
    made.end_rank();
  }
  return made.finish();
}

inline weft::simulator::workload reduction(const weft::schedules::tree& over, std::size_t bytes,
                                           const weft::schedules::pipeline& by = {}) {
  return weft::simulator::workload_of(over.ranks(), bytes, 1, [&](int rank, weft::schedules::sink& to) {
    weft::schedules::tree_reduce(over.position(rank), by, to);
  });
}

inline double completion(const weft::simulator::workload& all, const weft::simulator::machine_model& model,
                         const weft::simulator::network* links = nullptr) {
  return weft::simulator::simulate(all, model, links).completion;
}

/// Every link carries so many bytes per unit of time.
inline weft::simulator::network with_capacity(weft::simulator::network of, double capacity, std::vector<int> node_of) {
  for (weft::simulator::link& one : of.links) one.capacity = capacity;
  of.node_of = std::move(node_of);
  return of;
}

/// A machine of small whole costs, one of three with noise.
inline weft::simulator::machine_model drawn_machine(std::mt19937_64& random,
                                                    weft::simulator::noise_model::phase phases) {
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  weft::simulator::machine_model drawn;
  drawn.latency = draw(0, 200);
  drawn.overhead = draw(0, 20);
  drawn.gap = draw(0, 40);
  drawn.gap_per_byte = draw(0, 3);
  drawn.compute_per_byte = draw(0, 2);
  drawn.eager_limit = static_cast<std::uint64_t>(draw(0, 1) * 1000);
  drawn.preposted = draw(0, 1) == 1;
  drawn.ports = static_cast<weft::simulator::port_model>(draw(0, 2));
  if (draw(0, 2) == 0) drawn.noise = {500, 50, phases, random(), false};
  return drawn;
}

}  // namespace weft_test
