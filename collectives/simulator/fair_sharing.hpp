// SPDX-License-Identifier: Apache-2.0
// Transfers that share links, max-min fairly.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>
#include <weft/simulator/network.hpp>
#include <weft/simulator/simulate.hpp>

namespace weft::simulator {

class fair_sharing {
 public:
  struct flow {
    std::uint32_t rank = 0;  ///< that sends
    step_index step = 0;
    double start = 0;
    activity_id cause = no_activity;
    double end = std::numeric_limits<double>::infinity();
    double least_gap = 0;  ///< time a byte takes if no link is shared
    double gap = 0;        ///< time a byte takes now; 0: not known yet
    double remaining = 0;  ///< bytes, when `gap` was set
    double since = 0;      ///< when `gap` was set
    std::vector<std::uint32_t> links;
  };

  /// No flow is faster than a byte in `gap_per_byte`; with `ports`, nor are all those into one rank.
  fair_sharing(const network& links, int ranks, double gap_per_byte, bool ports);

  /// A flow of `bytes` (at least 1) to rank `to` begins; its rate is known after the next settle().
  void begin(flow of, int to, std::uint64_t bytes);
  bool changed() const noexcept { return changed_; }
  /// Rates anew, at time `now`.
  void settle(double now);
  /// The end of the flow that ends first as rates are now; infinity without flows.
  double next_end() const;
  /// Removes the flows that have ended by `now`, in the order of their begins.
  std::vector<flow> take_ended(double now);
  std::uint32_t version() const noexcept { return version_; }  ///< of the rates

 private:
  void fill();
  void list_flows();
  /// Of the flows that may still grow, the one that takes longest for a byte if no link is shared; negative: none may.
  double slowest_growing() const;
  void fix(std::size_t flow, double gap);
  void set_gap(flow& of, double gap, double now);

  const network& network_;
  double gap_per_byte_;
  bool ports_;
  std::uint32_t links_;                  ///< of the network, both ways; the ports follow
  std::vector<flow> flows_;              // in the order of their begins
  std::vector<double> capacity_left_;    // of each link, while filling
  std::vector<std::uint32_t> unfilled_;  // of each link: its flows that may still grow
  struct use {
    std::uint32_t flow;
    std::uint32_t before;  // the same link's use before this one
  };
  std::vector<use> uses_;
  std::vector<std::uint32_t> last_;  // of each link, in uses_
  std::vector<std::uint32_t> used_, full_;
  std::vector<double> gaps_;
  bool changed_ = false;
  std::uint32_t version_ = 0;
};

}  // namespace weft::simulator
