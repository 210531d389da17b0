// Collectives that go through memory which their ranks share, of a process or of a node.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/process/started_call.hpp>

namespace weft::detail {

/// What it is given, where it outlives the caller's own.
struct kept_call {
  kept_call(const request& its, const known_call& so_known);
  kept_call(const kept_call&) = delete;
  kept_call& operator=(const kept_call&) = delete;

  request call;
  known_call known;

 private:
  std::vector<std::size_t> counts_, received_;
};

/// One that its rank has started; its buffers are the call's until it is over.
class memory_call final : public started_call {
 public:
  /// Throws where there is no memory.
  memory_call(communicator_state& state, const request& call, const known_call& known);
  ~memory_call() = default;

  void start();
  /// What it threw, or null. Once it is over.
  const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  void run() noexcept override;

  communicator_state& state_;
  kept_call what_;
  std::uint32_t sequence_ = 0;
  std::uint32_t turn_ = 0;
  std::exception_ptr failure_;
};

}  // namespace weft::detail
