// SPDX-License-Identifier: Apache-2.0
// What communicators do with a collective call: run what is prepared for it.
#include <optional>
#include <utility>
#include <vector>
#include <weft/calls/accumulators.hpp>
#include <weft/calls/agreed_times.hpp>
#include <weft/calls/agreement.hpp>
#include <weft/calls/arrival_look.hpp>
#include <weft/calls/call_in_steps.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/front_result.hpp>
#include <weft/calls/kept_call.hpp>
#include <weft/calls/make_plan.hpp>
#include <weft/calls/memory_way.hpp>
#include <weft/calls/packed_buffers.hpp>
#include <weft/calls/pending_by_another.hpp>
#include <weft/calls/prepared_calls.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/communicator.hpp>
#include <weft/process/started_call.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/counted_allocator.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {
namespace detail {
namespace {

run_arguments arguments_of(const request& call, const plan_cache::entry& plan) {
  return {static_cast<const std::byte*>(call.in),
          static_cast<std::byte*>(call.out),
          0,
          plan.fingerprint,
          call.custom,
          call.ended};
}

class pending_collective final : public pending {
 public:
  pending_collective(std::shared_ptr<communicator_state> state, const char* operation,
                     std::unique_ptr<plan_cache::ended_run> begun, std::shared_ptr<const void> keeps)
      : pending(std::move(state), operation), begun_(std::move(begun)), keeps_(std::move(keeps)) {}
  ~pending_collective() override { state().plans.put_back_later(std::move(begun_)); }

  void start(run_arguments arguments) {
    arguments.sequence = state().next_sequence();
    if (state().host.settings().check) {
      const auto mine = announcement::of(begun_->of->call, false, state().member.rank, state().size());
      agreement_ = std::make_unique<agreement>(state(), mine, arguments.sequence);
      agreement_->start_before(*begun_->run, arguments);
    } else {
      begun_->run->start(arguments, state().host.moved_by());
    }
  }
  event& done() override { return begun_->run->finished(); }
  const std::exception_ptr& failure() const noexcept override { return begun_->run->failure(); }

 private:
  std::unique_ptr<plan_cache::ended_run> begun_;
  std::unique_ptr<agreement> agreement_;  // in the checked mode
  std::shared_ptr<const void> keeps_;     // the caller's operator, or what stands in for its input
};

/// Takes place in its turn among the calls that its rank has started: through memory, or in the checked mode, where all
/// are announced through memory, by messages once it has been announced.
class pending_in_turn final : public pending, public resting_call, started_call {
 public:
  pending_in_turn(const std::shared_ptr<communicator_state>& its, const request& call, const known_call& known,
                  std::unique_ptr<plan_cache::ended_run> by_messages)
      : pending(its, schedules::call_name(call.what)),
        started_call(its->host.calls(), its->member, its->host.moved_by()),
        what_(call, known),
        steps_(*its, what_),
        by_messages_(std::move(by_messages)) {}
  ~pending_in_turn() override {
    started_call::wait();
    if (by_messages_ != nullptr) state().plans.put_back_later(std::move(by_messages_));
  }

  /// One that is over, or a new one.
  static std::unique_ptr<pending_in_turn> of(const std::shared_ptr<communicator_state>& its, const request& call,
                                             const known_call& known,
                                             std::unique_ptr<plan_cache::ended_run> by_messages) {
    if (by_messages == nullptr && can_rest(call))
      if (auto rested = its->at_rest.take()) {
        std::unique_ptr<pending_in_turn> taken(static_cast<pending_in_turn*>(rested.release()));
        taken->join(its, schedules::call_name(call.what));
        taken->what_.keep(call, known);
        return taken;
      }
    return std::make_unique<pending_in_turn>(its, call, known, std::move(by_messages));
  }
  void retire() noexcept override {
    if (by_messages_ != nullptr || !can_rest(what_.call) || !state().host.calls().may_rest()) return pending::retire();
    started_call::wait();
    failure_ = nullptr;
    what_.forget_given();
    const auto its = leave();
    its->at_rest.put(std::unique_ptr<resting_call>(this));
  }

  void start() {
    sequence_ = state().next_sequence();
    turn_ = state().turns.take();
    if (!goes_in_steps()) return started_call::start();
    shows_ = true;
    switch (steps_.show()) {
      case call_in_steps::left::nothing:
        start_to_wait();
        return end_here();
      case call_in_steps::left::own_part:
        start_to_wait();
        return leave_shown();
      case call_in_steps::left::more:
        start_to_wait();
        return go_on();
    }
  }
  event& done() override { return started_call::offered(); }
  void await() override { started_call::wait(); }
  const std::exception_ptr& failure() const noexcept override { return failure_; }
  void raise() const override { std::rethrow_exception(failure_); }

 private:
  bool advance() override { return started_call::advance(); }

  static bool can_rest(const request& call) noexcept { return known_call::can_be_known(call); }

  bool goes_in_steps() noexcept {
    if (by_messages_ != nullptr || state().host.settings().check || what_.call.ended != nullptr) return false;
    try {
      return state().turns.try_come(turn_) && steps_.learn(sequence_);
    } catch (...) {
      return false;  // `run` comes to it again, and then the others are told
    }
  }

  void run() noexcept override {
    keeping_failure([this] {
      if (std::exchange(shows_, false)) return steps_.use_shown();
      state().turns.await(turn_);
      if (by_messages_ != nullptr)
        return agree(state(), announcement::of(by_messages_->of->call, false, state().member.rank, state().size()),
                     sequence_, operation());
      agree_if_checked(state(), what_.call, what_.known, sequence_);
      run_in_turn(state(), what_.call, what_.known, sequence_);
      if (what_.call.ended != nullptr) *what_.call.ended = std::chrono::steady_clock::now();
    });
    state().turns.pass(turn_);
    if (by_messages_ != nullptr && failure_ == nullptr) keeping_failure([this] { run_by_messages(); });
  }
  void run_by_messages() {
    run_arguments arguments = arguments_of(what_.call, *by_messages_->of);
    arguments.sequence = sequence_;
    by_messages_->run->start(arguments, state().host.moved_by());
    by_messages_->run->finished().wait(state().host.moved_by());
    if (const auto& failed = by_messages_->run->failure()) rethrow(state(), operation(), failed);
  }
  template <class Part>
  void keeping_failure(Part&& part) noexcept {
    try {
      part();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  kept_call what_;  // with the caller's operator, or what stands in for its input
  call_in_steps steps_;
  bool shows_ = false;  // this start has
  std::unique_ptr<plan_cache::ended_run> by_messages_;
  std::uint32_t sequence_ = 0, turn_ = 0;
  std::exception_ptr failure_;
};

/// By messages, of a trial of which all ranks still agree what came of it: goes on when that is known.
class pending_undecided final : public pending, started_call {
 public:
  pending_undecided(const std::shared_ptr<communicator_state>& its, const request& call,
                    std::shared_ptr<agreed_times> awaits,
                    std::vector<std::unique_ptr<plan_cache::ended_run>> candidates)
      : pending(its, schedules::call_name(call.what)),
        started_call(its->host.calls(), its->member, its->host.moved_by()),
        call_(call),
        awaits_(std::move(awaits)),
        candidates_(std::move(candidates)) {}
  ~pending_undecided() override {
    started_call::wait();
    for (auto& each : candidates_) state().plans.put_back_later(std::move(each));
  }

  void start() {
    sequence_ = state().next_sequence();
    started_call::start();
  }
  event& done() override { return started_call::offered(); }
  void await() override { started_call::wait(); }
  const std::exception_ptr& failure() const noexcept override { return failure_; }

 private:
  bool advance() override { return started_call::advance(); }

  void run() noexcept override {
    try {
      awaits_->await();
      failure_ = awaits_->failure();
      if (failure_ == nullptr) run_by(*candidates_[candidate_trial::fastest(awaits_->slowest())]);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void run_by(plan_cache::ended_run& taken) {
    run_arguments arguments = arguments_of(call_, *taken.of);
    arguments.sequence = sequence_;
    taken.run->start(arguments, state().host.moved_by());
    taken.run->finished().wait(state().host.moved_by());
    failure_ = taken.run->failure();
  }

  const request call_;  // with the caller's operator, or what stands in for its input
  const std::shared_ptr<const agreed_times> awaits_;
  std::vector<std::unique_ptr<plan_cache::ended_run>> candidates_;
  std::uint32_t sequence_ = 0;
  std::exception_ptr failure_;
};

/// A reduce-scatter in place whose block is moved to the front.
class pending_at_front final : public pending_by_another {
 public:
  pending_at_front(std::shared_ptr<communicator_state> state, const char* operation, const front_result& result)
      : pending_by_another(std::move(state), operation), result_(result) {}
  void deliver() noexcept override {
    other->deliver();
    std::exchange(result_, {}).move();
  }

 private:
  front_result result_;
};

/// One whose blocks are packed: another one, of scratch memory, which is unpacked in the end.
class pending_packed final : public pending_by_another {
 public:
  pending_packed(std::shared_ptr<communicator_state> state, const char* operation, packed_buffers&& blocks)
      : pending_by_another(std::move(state), operation), blocks_(std::move(blocks)) {
    blocks_.pack();
  }
  ~pending_packed() override { other.reset(); }  // it uses the blocks' memory
  const request& packed() const noexcept { return blocks_.call(); }
  void deliver() noexcept override {
    other->deliver();
    if (std::exchange(is_due_, false)) blocks_.unpack();
  }

 private:
  packed_buffers blocks_;
  bool is_due_ = true;
};

/// A reproducible sum: another collective, of accumulators, that ends with their values.
class pending_reproducible final : public pending_by_another {
 public:
  pending_reproducible(std::shared_ptr<communicator_state> state, const char* operation, accumulators sums,
                       const value_target& to)
      : pending_by_another(std::move(state), operation), sums_(std::move(sums)), to_(to) {}
  void deliver() noexcept override { write_values(sums_, std::exchange(to_, {})); }

 private:
  accumulators sums_;
  value_target to_;
};

/// An execution of `plan`: one at rest, or a new one.
template <class Execution>
std::unique_ptr<Execution> take(communicator_state& state, plan_cache::entry& plan) {
  if (auto at_rest = state.plans.take<Execution>(plan)) return at_rest;
  return state.plans.make<Execution>(state.host.messages(), state.member, state.host.arena(), plan.plan);
}

std::unique_ptr<plan_cache::ended_run> run_of(communicator_state& state, std::shared_ptr<plan_cache::entry> plan) {
  auto execution = take<dataflow_execution>(state, *plan);
  return std::unique_ptr<plan_cache::ended_run>(
      new plan_cache::ended_run{std::move(plan), std::move(execution), nullptr});
}

/// Blocks.
void run_in_order(communicator_state& state, const request& call, const std::shared_ptr<plan_cache::entry>& plan) {
  auto execution = take<in_order_execution>(state, *plan);
  auto arguments = arguments_of(call, *plan);
  arguments.sequence = state.next_sequence();
  if (state.host.settings().check) {
    const auto mine = announcement::of(plan->call, false, state.member.rank, state.size());
    state.turns.await_all();
    agree(state, mine, arguments.sequence, schedules::call_name(call.what));
  }
  execution->run(arguments, state.host.moved_by());
  const std::exception_ptr failure = execution->failure();
  state.plans.put_back(plan, std::move(execution));
  if (failure != nullptr) rethrow(state, schedules::call_name(call.what), failure);
}

/// Starts a call that goes by that plan.
begun_operation begin_by_messages(const std::shared_ptr<communicator_state>& its, const request& call,
                                  const known_call& known, std::shared_ptr<plan_cache::entry> plan) {
  auto run = run_of(*its, std::move(plan));
  if (its->host.settings().check && announces_in_memory(*its)) {
    auto begun = pending_in_turn::of(its, call, known, std::move(run));
    begun->start();
    return begun;
  }
  const auto arguments = arguments_of(call, *run->of);
  auto begun = std::make_unique<pending_collective>(its, schedules::call_name(call.what), std::move(run), call.keeps);
  begun->start(arguments);
  return begun;
}

/// The same of one whose plan is not known yet.
begun_operation begin_undecided(const std::shared_ptr<communicator_state>& its, const request& call,
                                const request_shape& shape, const tried_by_messages& trial) {
  std::vector<std::unique_ptr<plan_cache::ended_run>> candidates;
  for (auto& each : plans_of_candidates(*its, call, shape, trial)) candidates.push_back(run_of(*its, std::move(each)));
  auto begun = std::make_unique<pending_undecided>(its, call, trial.agreed, std::move(candidates));
  begun->start();
  return begun;
}

/// In place an all-to-all would write what it has still to send.
void keep_input(const communicator_state& state, request& call) {
  if (call.what != collective::alltoall || call.in != call.out || call.in_count == 0) return;
  const std::size_t bytes = call.in_count * call.element_bytes;
  const auto copy = std::allocate_shared_for_overwrite<std::byte[]>(
      counted_allocator<std::byte>(state.host.budget(), "the input of an all-to-all in place"), bytes);
  copy_bytes(copy.get(), call.in, bytes);
  call.in = copy.get();
  call.keeps = copy;
}

}  // namespace
}  // namespace detail

handle communicator::start(detail::request call) {
  call.keep_operator();
  const detail::sole_call::making mine(state_->collecting, *state_, schedules::call_name(call.what));
  trace::recorder* const records = state_->records;
  if (records == nullptr) return handle(begin(std::move(call)));
  const detail::request as_made = call;
  const ticks now = ticks_now();
  detail::begun_operation begun = begin(std::move(call));
  begun->note_start(detail::traced_collective(*state_, as_made, trace::form::started), now);
  return handle(std::move(begun));
}

// Inlined: registers saved once less are a tenth of a short call's instructions.
[[gnu::always_inline]] inline void communicator::finish(detail::request& call) {
  detail::communicator_state& state = *state_;
  detail::known_call& known =
      detail::telling_refusals(state, [&]() -> decltype(auto) { return detail::know(state, call); });
  if (detail::is_at_front(call, known.shape)) [[unlikely]]
    return finish_at_front(call, known.shape);
  if (known.goes == detail::way::messages) [[unlikely]]
    return finish_by_messages(call, known);
  if (known.goes == detail::way::joined) detail::keep_input(*state_, call);
  known.counted.add(statistics::form::blocking);
  const std::uint32_t sequence = state.next_sequence();
  state.turns.await_all();
  detail::agree_if_checked(state, call, known, sequence);
  detail::run_in_turn(state, call, known, sequence);
}

void communicator::run(detail::request call) {
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]]
    return run_until(*limit, std::move(call));
  const detail::sole_call::making mine(state_->collecting, *state_, schedules::call_name(call.what));
  const detail::traced_collective_call traced(*state_, call);
  if (call.in_pieces) [[unlikely]]
    return finish_packed(call);
  if (call.reproducible) [[unlikely]]
    return finish_reproducible(call);
  finish(call);
}

void communicator::finish_packed(const detail::request& call) {
  const auto blocks = detail::packed_buffers::of(*state_, call);
  blocks.pack();
  detail::request packed = blocks.call();
  if (packed.reproducible)
    finish_reproducible(packed);
  else
    finish(packed);
  blocks.unpack();
}

void communicator::finish_reproducible(const detail::request& call) {
  const detail::request_shape shape =
      detail::telling_refusals(*state_, [&] { return detail::know(*state_, call).shape; });
  detail::accumulators sums(call.type, call.in, call.in_count, state_->host.budget());
  detail::request summed = detail::of_accumulators(call, shape, sums);
  finish(summed);
  detail::write_values(sums, detail::target_of(call, shape));
}

void communicator::finish_at_front(const detail::request& call, const detail::request_shape& shape) {
  const detail::front_result result(call, shape);
  detail::request of_block = result.of_block(call);
  finish(of_block);
  result.move();
}

void communicator::finish_by_messages(detail::request& call, const detail::known_call& known) {
  known.counted.add(statistics::form::blocking);
  const detail::request_shape shape = known.shape;
  const auto taken = detail::telling_refusals(*state_, [&] { return detail::prepare_to_block(*state_, call, shape); });
  std::optional<detail::trial_timer> timer;
  if (taken.trial != nullptr) [[unlikely]]
    timer.emplace(state_->host.moved_by().time());
  std::optional<detail::arrival_look> look;
  if (taken.look != nullptr) [[unlikely]]
    look.emplace(*state_, *taken.look, taken.plan->fingerprint);
  detail::keep_input(*state_, call);
  if (taken.plan->runs_in_order)
    detail::run_in_order(*state_, call, taken.plan);
  else
    handle(detail::begin_by_messages(state_, call, known, taken.plan)).wait();
  if (timer) [[unlikely]]
    taken.trial->trial.took(taken.turn, timer->seconds());
}

plan communicator::make_plan(detail::request call) {
  call.keep_operator();
  auto made = detail::make_plan(state_, call);
  if (state_->records != nullptr) made->note_as(detail::traced_collective(*state_, call, trace::form::planned));
  return plan(std::move(made));
}

/// As a call that is started, so that it can be left in flight.
void communicator::run_until(const time_limit& limit, detail::request call) {
  const char* const operation = schedules::call_name(call.what);
  std::vector<handle> begun;
  begun.push_back(start(std::move(call)));
  if (!begun[0].wait_until(limit.when()))
    detail::throw_timed_out(detail::where(*state_, operation), detail::awaited_ranks(*state_, true), std::move(begun));
  begun[0].wait();
}

detail::begun_operation communicator::begin(detail::request call) {
  if (call.in_pieces) {
    auto begun = std::make_unique<detail::pending_packed>(state_, schedules::call_name(call.what),
                                                          detail::packed_buffers::of(*state_, call));
    begun->other = begin(begun->packed());
    return begun;
  }
  const detail::known_call& known =
      detail::telling_refusals(*state_, [&]() -> decltype(auto) { return detail::know(*state_, call); });
  const detail::request_shape shape = known.shape;
  const char* const operation = schedules::call_name(call.what);
  if (call.reproducible) {
    detail::accumulators sums(call.type, call.in, call.in_count, state_->host.budget());
    const detail::request summed = detail::of_accumulators(call, shape, sums);
    auto begun = std::make_unique<detail::pending_reproducible>(state_, operation, std::move(sums),
                                                                detail::target_of(call, shape));
    begun->other = begin(summed);
    return begun;
  }
  if (detail::is_at_front(call, shape)) {
    const detail::front_result result(call, shape);
    auto begun = std::make_unique<detail::pending_at_front>(state_, operation, result);
    begun->other = begin(result.of_block(call));
    return begun;
  }
  known.counted.add(statistics::form::started);
  detail::keep_input(*state_, call);
  if (known.goes == detail::way::messages) {
    auto taken = detail::telling_refusals(*state_, [&] { return detail::prepare_to_start(*state_, call, shape); });
    if (taken.look != nullptr) detail::look_away(*state_, taken.plan->fingerprint);
    return taken.plan != nullptr ? detail::begin_by_messages(state_, call, known, std::move(taken.plan))
                                 : detail::begin_undecided(state_, call, shape, *taken.trial);
  }
  auto begun = detail::pending_in_turn::of(state_, call, known, nullptr);
  begun->start();
  return begun;
}

}  // namespace weft
