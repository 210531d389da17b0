// SPDX-License-Identifier: Apache-2.0
// One collective on one rank: its buffers, its call, and whether the result was right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <weft/communicator.hpp>
#include <weft/runtime.hpp>

#include "settings.hpp"

namespace weft::tools {

class workload {
 public:
  virtual ~workload() = default;

  /// Fills the inputs with what every rank can compute from `seed`, and the outputs with what no result is.
  virtual void prepare(std::uint64_t seed) = 0;
  /// Calls the collective once; once it is planned, starts that plan and waits for it.
  void call() {
    enter();
    if (starts_) return started().wait(), void();
    if (!plan_) return run();
    plan_->start();
    plan_->wait();
  }
  /// Plans the collective. Collective.
  void persist() { plan_ = planned(); }
  /// From now on a call is started, and then waited for.
  void start() { starts_ = true; }
  /// How many elements on this rank differ from the exact result, after `prepare(seed)` and `call`. Collective for the
  /// barrier only.
  virtual std::int64_t count_wrong(std::uint64_t seed) = 0;

 private:
  /// A call begins.
  virtual void enter() {}
  virtual void run() = 0;
  virtual handle started() = 0;
  virtual plan planned() = 0;

  std::optional<plan> plan_;
  bool starts_ = false;
};

/// How many elements `bytes` are, at least one.
std::size_t count_of(const bench_settings& settings, std::size_t bytes);

/// Buffers for a vector of so many bytes on each rank, or, where there is a block for each rank, for blocks of so many;
/// root 0. They are taken from the memory that `arena` shares with its node, where it is not null. `world` outlives it.
std::unique_ptr<workload> make_workload(communicator& world, const bench_settings& settings, std::size_t bytes,
                                        runtime* arena = nullptr);

}  // namespace weft::tools
