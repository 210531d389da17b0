#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/scheduler.hpp>

#include "agreement.hpp"
#include "argument_checks.hpp"
#include "memory_plan.hpp"
#include "prepared_calls.hpp"

namespace weft {
namespace detail {

/// Room for what a plan receives, while the plan lives.
class reserved_messages {
 public:
  reserved_messages(communicator_state& at, const bound_schedule& of) : at_(at) {
    for (const bound_step& step : of.steps)
      if (step.kind == schedules::step_kind::receive || step.kind == schedules::step_kind::await)
        lengths_.push_back(step.bytes);
    at_.host.messages().reserve(at_.member, lengths_);
  }
  reserved_messages(const reserved_messages&) = delete;
  reserved_messages& operator=(const reserved_messages&) = delete;
  ~reserved_messages() { at_.host.messages().release(at_.member, lengths_); }

 private:
  communicator_state& at_;
  std::vector<std::size_t> lengths_;
};

/// One rank's. What a start does is left to those below.
class planned_collective : public pending {
 public:
  void start() {
    if (copied_ != 0) std::memcpy(copy_.get(), in_, copied_);
    if (sums_) sums_->refill(in_);
    started_ = true;
    begin();
  }
  bool started() const noexcept { return started_; }
  /// What was started is done: throws what it failed with.
  void end() {
    started_ = false;
    finish();
  }
  void deliver() noexcept override {
    if (sums_) write_values(*sums_, to_);
  }

 protected:
  planned_collective(std::shared_ptr<communicator_state> its, const request& call, const request_shape& shape)
      : pending(std::move(its), schedules::call_name(call.what)), bound_(call), in_(call.in) {
    if (call.reproducible) {
      sums_.emplace(call.type, call.in, call.in_count);
      bound_ = of_accumulators(call, shape, *sums_);
      to_ = target_of(call, shape);
    } else if (call.what == collective::alltoall && call.in == call.out) {
      copied_ = call.in_count * call.element_bytes;
      copy_ = std::make_unique_for_overwrite<std::byte[]>(copied_);
      bound_.in = copy_.get();
    }
  }

  /// The call that each start makes.
  const request& bound() const noexcept { return bound_; }

 private:
  virtual void begin() = 0;

  request bound_;  // keeps the caller's operator
  const void* in_;
  std::optional<accumulators> sums_;
  value_target to_;
  std::unique_ptr<std::byte[]> copy_;  // of the input that an all-to-all in place would write
  std::size_t copied_ = 0;             // bytes
  bool started_ = false;
};

namespace {

/// In the checked mode: all ranks have made this plan, by their call of this number.
void agree_on_plan(communicator_state& state, const collective_call& call, std::uint32_t number) {
  if (!state.host.settings().check) return;
  const auto mine = announcement::of(call, true, state.member.rank, state.size());
  agreement(state, mine, number).await(schedules::call_name(call.what()));
}

class planned_by_messages final : public planned_collective {
 public:
  planned_by_messages(std::shared_ptr<communicator_state> its, const request& call, const request_shape& shape)
      : planned_collective(std::move(its), call, shape) {
    const prepared_call& prepared =
        telling_refusals(state(), [&]() -> decltype(auto) { return prepare(state(), bound(), shape); });
    const std::uint32_t number = state().next_sequence();
    arguments_ = {static_cast<const std::byte*>(bound().in), static_cast<std::byte*>(bound().out),
                  number | sequence_of_plan, prepared.plan->fingerprint, bound().custom};
    agree_on_plan(state(), prepared.plan->call, number);
    reserved_.emplace(state(), *prepared.plan->plan);
    run_ = std::make_unique<dataflow_execution>(state().host.messages(), state().member, state().host.arena(),
                                                prepared.plan->plan);
    run_->post_ahead(arguments_);
  }
  ~planned_by_messages() override { run_->retire(state().host.moved_by()); }

  event& done() override { return run_->finished(); }
  const std::exception_ptr& failure() const noexcept override { return run_->failure(); }

 private:
  void begin() override { run_->start(arguments_, state().host.moved_by()); }

  run_arguments arguments_;
  std::optional<reserved_messages> reserved_;
  std::unique_ptr<dataflow_execution> run_;
};

class planned_in_memory final : public planned_collective {
 public:
  planned_in_memory(const std::shared_ptr<communicator_state>& its, const request& call, const request_shape& shape)
      : planned_collective(its, call, shape), call_(*its, bound(), know(*its, bound())) {}
  ~planned_in_memory() override {
    if (unwinding() && !call_.is_open()) break_communicator();
  }

  event& done() override { return call_.offered(); }
  void await() override { call_.wait(); }
  const std::exception_ptr& failure() const noexcept override { return call_.failure(); }
  void raise() const override { std::rethrow_exception(failure()); }

 private:
  void begin() override { call_.start(); }
  bool advance() override { return call_.advance(); }

  memory_plan call_;
};

}  // namespace

namespace {

[[noreturn]] void refuse(planned_collective& of, const char* what) {
  throw error(errc::invalid_argument, where(of.state(), of.operation()) + ": " + what);
}

planned_collective& held(const std::unique_ptr<planned_collective>& by, const char* call) {
  if (by == nullptr) throw error(errc::invalid_argument, std::string(call) + " of a plan that holds no collective");
  return *by;
}

planned_collective& in_flight(const std::unique_ptr<planned_collective>& by, const char* call) {
  planned_collective& of = held(by, call);
  if (!of.started()) refuse(of, "the plan has not been started since it was last done");
  return of;
}

}  // namespace
}  // namespace detail

plan communicator::make_plan(const detail::request& call) {
  const detail::sole_call::making mine(state_->collecting, *state_, schedules::call_name(call.what));
  const detail::known_call& known =
      detail::telling_refusals(*state_, [&]() -> decltype(auto) { return detail::know(*state_, call); });
  const detail::request_shape shape = known.shape;
  if (known.goes == detail::way::messages)
    return plan(std::make_unique<detail::planned_by_messages>(state_, call, shape));
  if (state_->host.settings().check)
    detail::agree_on_plan(*state_, detail::agreed_call(call, shape), state_->next_sequence());
  return plan(std::make_unique<detail::planned_in_memory>(state_, call, shape));
}

plan::plan() noexcept = default;
plan::plan(std::unique_ptr<detail::planned_collective> made) noexcept : planned_(std::move(made)) {}
plan::plan(plan&&) noexcept = default;
plan& plan::operator=(plan&& other) noexcept {
  plan old(std::move(*this));  // waits as the destructor does
  planned_ = std::move(other.planned_);
  return *this;
}

plan::~plan() {
  if (planned_ == nullptr || !planned_->started()) return;
  planned_->abandon();
}

void plan::start() {
  detail::planned_collective& of = detail::held(planned_, "start");
  if (of.started()) detail::refuse(of, "the plan is in flight: wait for it before it is started again");
  if (of.state().freed) detail::refuse(of, "the plan's communicator has been freed");
  of.start();
}

bool plan::test() {
  detail::planned_collective& of = detail::in_flight(planned_, "test");
  if (!of.ready()) return false;
  of.end();
  return true;
}

void plan::wait() {
  detail::planned_collective& of = detail::in_flight(planned_, "wait");
  of.await();
  of.end();
}

bool plan::wait_until(std::chrono::steady_clock::time_point deadline) {
  detail::planned_collective& of = detail::in_flight(planned_, "wait");
  if (!of.done().wait_until(of.state().host.moved_by(), deadline)) return false;
  of.end();
  return true;
}

std::size_t wait_any(std::span<plan> plans) {
  std::vector<detail::pending*> all;
  for (const plan& each : plans) {
    const bool in_flight = each.valid() && each.planned_->started();
    all.push_back(in_flight ? each.planned_.get() : nullptr);
  }
  return detail::wait_any(all);
}

}  // namespace weft
