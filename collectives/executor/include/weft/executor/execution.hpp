// SPDX-License-Identifier: Apache-2.0
// One run of a bound schedule: its transfers and its scratch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <weft/executor/bound_schedule.hpp>
#include <weft/executor/offered_memory.hpp>
#include <weft/executor/scratch_memory.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/request/run_arguments.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::detail {

/// Everything that the two executors share. May run again and again, once at a time.
///
/// Where the caller's operator throws, its step is poisoned, and so is each step that depends on a poisoned one, here
/// or, by a message without contents, on another rank. Poisoned steps compute nothing, but every message is sent and
/// received as ever: the next collective finds the communicator as it should be.
class execution {
 public:
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  virtual ~execution();

  const bound_schedule& plan() const noexcept { return *plan_; }
  /// Bytes of memory that it takes, without its plan.
  std::size_t footprint() const noexcept { return footprint_; }
  /// What the last run failed with, or null: what the operator threw on this rank, else the first error, else what it
  /// threw on another.
  const std::exception_ptr& failure() const noexcept { return failure_; }
  /// Why steps of the last run were poisoned, or null.
  const std::shared_ptr<const fabric::poison>& poisoned_by() const noexcept { return poisoned_by_; }

 protected:
  /// `shared` by the processes of this node; null where the plan reads no other process's memory. Those that are made
  /// of this take `more` bytes. Throws std::bad_alloc, errc::out_of_memory.
  execution(fabric::messenger& messages, fabric::participant& member, const fabric::arena* shared,
            std::shared_ptr<const bound_schedule> plan, std::size_t more);

  /// A send or receive step has ended. Called with the token held.
  virtual void transfer_ended(schedules::step_index step, const std::exception_ptr& failure) noexcept = 0;

  /// For a run with `arguments_`.
  void arm();
  /// Runs a copy or combine step that is not poisoned. Where it needs memory of another rank that cannot be read,
  /// `failure_` is set if that rank's process has ended, else `refused_`, which `settle_refusal` is to follow.
  void run_locally(schedules::step_index step) noexcept;
  /// Whose memory cannot be read may have left a call that fails: then `failure_` becomes what the communicator has
  /// failed with; when nothing has come of that in time, what was refused, for which all its operations end. Whether it
  /// is set. Where the token is held.
  bool settle_refusal() noexcept;
  /// Runs `function` with the token held.
  virtual void hold(const std::function<void()>& function) = 0;
  /// `step` depends on `before`, which is done.
  void follow(schedules::step_index before, schedules::step_index step) noexcept {
    if (poison_ != nullptr && poisoned_[before]) [[unlikely]]
      poison(step);
  }
  /// Whether the transfer `step`, which has failed, was a receive of a message without contents; it is poisoned then.
  bool take_poison(schedules::step_index step) noexcept;
  /// The run has ended: `failure_` is what it failed with.
  void conclude() noexcept;
  /// Says when it ended, where that is asked for.
  void stamp() const noexcept {
    if (arguments_.ended != nullptr) *arguments_.ended = std::chrono::steady_clock::now();
  }
  /// Of one of the communicator's ranks.
  int rank_in_job(int rank) const noexcept { return member_.members->world[static_cast<std::size_t>(rank)]; }
  /// The operation of a receive step.
  fabric::receive_operation& receive_of(schedules::step_index step) noexcept;
  /// The operation of a transfer step, ready to be posted.
  fabric::operation& transfer(schedules::step_index step) noexcept;

  fabric::messenger& messages_;
  run_arguments arguments_;
  bases memory_;
  std::exception_ptr failure_;  ///< the first of those for which the communicator has failed
  std::exception_ptr refused_;  ///< a read that was, while that may have been for a failure

 private:
  struct send;
  struct receive;

  struct unreadable;

  std::size_t own_bytes() const noexcept;
  void poison(schedules::step_index step) noexcept;
  int process_of(std::uint32_t offer) const noexcept;
  /// Runs a copy or combine step, of which sources may be other ranks'. Throws unreadable, and what the operator
  /// throws.
  void run_step(const bound_step& step);
  void combine_fetched(const bound_step& step);
  /// Where elements of a source are, from element `first` on; those of others fetched to `into` where need be.
  const std::byte* fetched(const bound_segment& from, std::size_t first, std::size_t count, std::byte* into);
  /// What was read of these is what was offered: throws unreadable where that can no longer be said.
  void confirm(std::span<const bound_segment> sources);
  unreadable refused(std::uint32_t offer, std::error_code why) const;
  void give_up(const unreadable& why) noexcept;

  fabric::participant& member_;
  offered_memory others_;
  std::shared_ptr<const bound_schedule> plan_;
  const std::size_t sent_;  // how many steps send, and how many receive
  const std::size_t received_;
  const std::size_t footprint_;
  const memory_charge charge_;
  scratch_memory scratch_;
  std::unique_ptr<std::uint32_t[]> index_;  // of each step in sends_ or receives_
  std::unique_ptr<send[]> sends_;
  std::unique_ptr<receive[]> receives_;
  std::shared_ptr<const fabric::poison> poison_;  // null while no step is poisoned
  std::exception_ptr poison_failure_;             // what it makes this rank throw
  std::shared_ptr<const fabric::poison> poisoned_by_;
  bool threw_here_ = false;
  std::chrono::steady_clock::time_point refusal_holds_from_;
  std::unique_ptr<bool[]> poisoned_;                      // of each step
  std::unique_ptr<memory_offer[]> offers_made_, offers_;  // by their numbers
  offer_mark mine_hold_;                                  // last: it falls before the scratch goes
};

/// Runs the steps in their order on the caller's thread or fiber, for short messages: it never waits in a send, only
/// for what a step depends on. Receives that depend on nothing are posted before all else.
class in_order_execution final : public execution {
 public:
  in_order_execution(fabric::messenger& messages, fabric::participant& member, const fabric::arena* shared,
                     std::shared_ptr<const bound_schedule> plan);
  /// Blocks until every step is done, or one has failed and no transfer is in flight any more (`failure`).
  void run(const run_arguments& arguments, progress& by);

 private:
  void transfer_ended(schedules::step_index step, const std::exception_ptr& failure) noexcept override;
  void hold(const std::function<void()>& function) override { messages_.while_held(function); }
  void await(schedules::step_index step, progress& by);
  bool wait_for(schedules::step_index step, progress& by);
  void run_steps(progress& by);
  void await_settlement(progress& by);
  void post(schedules::step_index step);

  std::unique_ptr<event[]> done_;  // of each step
  std::unique_ptr<std::exception_ptr[]> failures_;
  std::unique_ptr<bool[]> posted_;
};

/// Runs each step as soon as what it depends on is done, on whichever thread polls: for everything that overlaps.
class dataflow_execution : public execution, private fabric::task {
 public:
  dataflow_execution(fabric::messenger& messages, fabric::participant& member, const fabric::arena* shared,
                     std::shared_ptr<const bound_schedule> plan);
  /// Starts and returns: by itself, or by leaving that to whoever holds the token, or to the thread that makes progress
  /// where it has a core of its own. Allocates nothing and waits for nobody.
  /// `finished()` is set when every step is done, or one has failed and no transfer is in flight any more
  /// (`failure`).
  void start(const run_arguments& arguments, progress& by);
  event& finished() noexcept { return finished_; }

  // A start in two parts, so that it can be waited for before it is known whether it will be.
  /// It is no longer finished, and nobody waits for it yet.
  void announce(const run_arguments& arguments) noexcept {
    arguments_ = arguments;
    finished_.reset();
  }
  /// It starts. Where the token is held.
  void start_held() noexcept;
  /// In place of that: it has failed. Where the token is held.
  void refuse_held(std::exception_ptr why) noexcept;

  /// From now on posts what can be ahead of each start: receives that depend on nothing and do not write to the
  /// caller's memory. Every start then has the same sequence and fingerprint as `arguments`.
  void post_ahead(const run_arguments& arguments);
  /// Takes back what is posted ahead; blocks until it is. Not during a run; there is none afterwards.
  void retire(progress& by);

 protected:
  /// The run has ended, with `failure`. Called with the token held; the last access, since who waits for `finished` may
  /// destroy this.
  virtual void ended() noexcept { finished_.set(); }

 private:
  enum class early : std::uint8_t { no, posted, ended };

  void run_held() noexcept override;
  void hold(const std::function<void()>& function) override { function(); }
  void transfer_ended(schedules::step_index step, const std::exception_ptr& failure) noexcept override;
  void post_early() noexcept;
  void take_early() noexcept;
  bool can_be_early(const bound_step& step) const noexcept;
  void transfer_is_over(schedules::step_index step, const std::exception_ptr& failure) noexcept;
  void step_done(schedules::step_index step) noexcept;
  /// A step that depends on nothing any more: a transfer is posted, another one waits for its turn.
  void take_up(schedules::step_index step) noexcept;
  void run_ready() noexcept;

  event finished_;
  std::unique_ptr<std::uint32_t[]> waiting_for_;    // how many dependencies of each step are not done
  std::unique_ptr<schedules::step_index[]> ready_;  // copies and combines in the order in which they became ready
  std::size_t ready_first_ = 0;
  std::size_t ready_last_ = 0;
  std::size_t done_ = 0;
  std::size_t in_flight_ = 0;
  bool goes_on_later_ = false;  // it has been handed over, so that others have a turn
  // Where receives are posted ahead:
  std::unique_ptr<early[]> early_;  // of each step; null: not here
  bool running_ = false;
  std::size_t posted_early_ = 0;  // and not ended
  event* all_taken_back_ = nullptr;
};

}  // namespace weft::detail
