// Plans whose calls go through memory which their ranks share.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>
#include <weft/calls/memory_call.hpp>
#include <weft/executor/execution.hpp>

#include "joined_call.hpp"

namespace weft::detail {

/// One rank's. Its ranks meet elsewhere than in their other calls: where that is, those of a node tell each other by
/// messages once they have made the plan, and whoever polls, or else the first start, opens it then.
class memory_plan final : public started_call {
 public:
  /// Of a `call` of the communicator of `on` that is `known`. It outlives the plan.
  memory_plan(communicator_state& on, const request& call, const known_call& known);
  ~memory_plan();

  void start();
  /// Whether all ranks have made it.
  bool is_open() { return advance(); }
  /// What the latest start threw, or null. Once it is over.
  const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  void run() noexcept override;
  void tell_board();
  void open();
  void open_with(std::vector<fabric::board_ticket> boards);
  void learn_ways();
  bool show();
  void use_shown(bool shown);
  void run_by_messages();

  communicator_state& on_;
  kept_call what_;
  const std::uint32_t sequence_;
  fabric::board_ticket board_;  // of this process
  std::vector<fabric::board_ticket> boards_;
  std::unique_ptr<dataflow_execution> telling_;
  std::unique_ptr<communicator_state> elsewhere_;    // null: it is not open yet
  std::unique_ptr<dataflow_execution> by_messages_;  // where there was no board left
  std::uint64_t fingerprint_ = 0;                    // of these
  bool started_ = false;
  bool awaited_ = true;  // by others, behind this rank's own waits
  // Where it is one exchange a start shows, and who waits uses what is shown:
  std::optional<joined_call> among_ranks_;  // of this process; else
  bool exchanges_on_node_ = false;
  std::optional<bool> shown_;  // by this start: whether that could be
  std::exception_ptr failure_;
};

}  // namespace weft::detail
