// SPDX-License-Identifier: Apache-2.0
// The rendezvous of a job: a table of keys and values that all its processes share while they find each other. The
// processes of a job are numbered 0, 1, ... processes() - 1, whatever number of ranks each of them hosts.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft {

/// One process's view of the job's table. Every call may be made from any thread; calls of one object are served one
/// after another, so a thread that waits in one of them keeps the others out. A deadline is a moment of the steady
/// clock; one that passes throws weft::error with errc::timed_out, naming what was waited for, and leaves the store
/// usable, unless that says otherwise. A rendezvous that is gone, or that breaks its protocol, throws
/// errc::no_rendezvous or errc::protocol.
class store {
 public:
  using clock = std::chrono::steady_clock;
  using bytes = std::vector<std::byte>;

  /// The most that a key and a value may hold, in bytes: longer ones are refused with errc::invalid_argument.
  static constexpr std::size_t maximum_key = 256;
  static constexpr std::size_t maximum_value = std::size_t{1} << 20;

  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  /// This process's number in the job, and how many there are.
  virtual int process() const noexcept = 0;
  virtual int processes() const noexcept = 0;

  /// Sets `key` for everyone; a second put replaces the first. Does not wait for other processes.
  virtual void put(std::string_view key, std::span<const std::byte> value) = 0;

  /// The value of `key`; blocks until somebody has put it.
  virtual bytes get(std::string_view key, clock::time_point deadline) = 0;

  /// The value of `key` if it is there now. The launcher itself puts "lost/PROCESS" for a process that died while the
  /// job goes on without it (`--on-failure continue`).
  virtual std::optional<bytes> find(std::string_view key) = 0;

  /// Blocks until every process of the job has called it as often as this one. Puts before it are visible after it, in
  /// every process. Throws errc::peer_lost when a process ended without doing so.
  virtual void fence(clock::time_point deadline) = 0;

  /// Puts this process's record under `key`, waits for everyone's, and returns them all, in the order of processes,
  /// in one round trip. Every process calls it once for a key. Throws as fence does.
  virtual std::vector<bytes> gather(std::string_view key, std::span<const std::byte> mine,
                                    clock::time_point deadline) = 0;

  /// This process has done its part of the job and calls nothing any more. A launcher that wants to be told so is: for
  /// it, a store that ends without this is one of a process that failed. Blocks for some seconds at most.
  virtual void leave() noexcept {}
};

/// The views of `processes` simulated processes on one table in this process's memory, in order; for tests, and for a
/// process that is alone. Each view may be used from its own thread, and may outlive the others.
std::vector<std::unique_ptr<store>> memory_stores(int processes);

}  // namespace weft
