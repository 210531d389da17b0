// SPDX-License-Identifier: Apache-2.0
// Plans whose calls go through memory which their ranks share.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>
#include <weft/calls/call_in_steps.hpp>
#include <weft/calls/kept_call.hpp>
#include <weft/calls/planned_collective.hpp>
#include <weft/executor/execution.hpp>
#include <weft/process/started_call.hpp>

namespace weft::detail {

/// One rank's. Its ranks meet elsewhere than in their other calls: where that is, those of a node tell each other by
/// messages once they have made the plan, and whoever polls, or else the first start, opens it then.
class planned_in_memory final : public planned_collective, started_call {
 public:
  planned_in_memory(const std::shared_ptr<communicator_state>& its, const request& call, const request_shape& shape);
  ~planned_in_memory() override;

  event& done() override { return started_call::offered(); }
  void await() override;
  const std::exception_ptr& failure() const noexcept override { return failure_; }
  void raise() const override { std::rethrow_exception(failure_); }

 private:
  void begin_run() override;
  bool advance() override { return started_call::advance(); }
  void run() noexcept override;
  void tell_board();
  void open();
  void open_with(std::vector<fabric::board_ticket> boards);
  void use_shown() noexcept;
  void run_by_messages();

  kept_call what_;
  const std::uint32_t sequence_;
  fabric::board_ticket board_;  // of this process
  std::vector<fabric::board_ticket> boards_;
  std::unique_ptr<dataflow_execution> telling_;
  std::unique_ptr<communicator_state> elsewhere_;    // null: it is not open yet
  std::unique_ptr<dataflow_execution> by_messages_;  // where there was no board left
  std::uint64_t fingerprint_ = 0;                    // of these
  bool in_flight_ = false;                           // a start, not the opening alone
  std::optional<call_in_steps> steps_;               // where it goes so
  bool shows_ = false;                               // this start has
  std::exception_ptr failure_;
};

}  // namespace weft::detail
