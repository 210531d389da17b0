// SPDX-License-Identifier: Apache-2.0
// Runs the patterns by which a road is measured, between this process and another one or between two of its own ranks.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>
#include <weft/choice/steady_time.hpp>
#include <weft/executor/execution.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/schedules/machine_costs.hpp>
#include <weft/schedules/probe_patterns.hpp>

namespace weft::detail {

class road_probe {
 public:
  /// `pair` are two ranks, of which this process is those in `here`; both sides make one. The arguments outlive it.
  road_probe(fabric::messenger& messages, progress& by, std::shared_ptr<const fabric::group> pair,
             std::vector<int> here, std::size_t eager);
  ~road_probe();
  road_probe(const road_probe&) = delete;
  road_probe& operator=(const road_probe&) = delete;

  /// What the road costs, as rank 0 measures it in about so many seconds, and in no less than a few runs of a pattern;
  /// nothing on a process that is rank 1 alone. Blocks. Throws peer_lost where the other side is lost.
  std::optional<schedules::road_costs> measure(double budget, schedules::road which);

 private:
  using pattern = schedules::probe_pattern;
  struct side;

  static std::vector<std::size_t> lengths_for(double budget, schedules::road which);
  static repeats repeats_for(double budget, schedules::road which);
  bool leads() const noexcept { return here_.front() == 0; }
  /// Seconds that one run of the pattern takes here.
  double run(pattern how, int messages, std::size_t bytes);
  /// The value of rank 0, on both.
  std::int64_t told(std::int64_t value);
  /// Seconds for each message of the pattern.
  double time_of(pattern how, int messages, std::size_t bytes, const repeats& often);
  std::vector<std::unique_ptr<side>>& sides_of(pattern how, int messages, std::size_t bytes);

  fabric::messenger& messages_;
  progress& by_;
  std::vector<int> here_;
  std::size_t eager_;
  std::vector<std::unique_ptr<fabric::participant>> members_;
  std::uint32_t sequence_ = 0;
  std::map<std::tuple<pattern, int, std::size_t>, std::vector<std::unique_ptr<side>>> sides_;
  std::vector<std::byte> input_, output_;
};

}  // namespace weft::detail
