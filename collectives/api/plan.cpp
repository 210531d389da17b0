// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <weft/calls/planned_operation.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/wait.hpp>

namespace weft {
namespace detail {
namespace {

[[noreturn]] void refuse(planned_operation& of, const char* what) {
  throw error(errc::invalid_argument, where(of.state(), of.operation()) + ": " + what);
}

planned_operation& held(const std::unique_ptr<planned_operation>& by, const char* call) {
  if (by == nullptr) throw error(errc::invalid_argument, std::string(call) + " of a plan that holds nothing");
  return *by;
}

planned_operation& started(const std::unique_ptr<planned_operation>& by, const char* call) {
  planned_operation& of = held(by, call);
  if (!of.started()) refuse(of, "the plan has not been started since it was last done");
  return of;
}

}  // namespace
}  // namespace detail

plan::plan() noexcept = default;
plan::plan(std::unique_ptr<detail::planned_operation> made) noexcept : planned_(std::move(made)) {}
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
  detail::planned_operation& of = detail::held(planned_, "start");
  if (of.started()) detail::refuse(of, "the plan is in flight: wait for it before it is started again");
  if (of.state().freed) detail::refuse(of, "the plan's communicator has been freed");
  const ticks now = of.state().records != nullptr ? ticks_now() : 0;
  of.start();
  if (now != 0) of.note_start(now);
}

bool plan::test() {
  detail::planned_operation& of = detail::started(planned_, "test");
  if (!of.ready()) return false;
  of.note_end();
  of.end();
  return true;
}

status plan::wait() {
  detail::planned_operation& of = detail::started(planned_, "wait");
  const detail::traced_call traced(of.state(), "wait");
  of.await_in_time();
  of.note_end();
  return of.end();
}

bool plan::wait_until(std::chrono::steady_clock::time_point deadline) {
  detail::planned_operation& of = detail::started(planned_, "wait");
  const detail::traced_call traced(of.state(), "wait");
  if (!of.done().wait_until(of.state().host.moved_by(), deadline)) return false;
  of.note_end();
  of.end();
  return true;
}

detail::pending* detail::in_flight::of(const plan& one) noexcept {
  return one.valid() && one.planned_->started() ? one.planned_.get() : nullptr;
}

std::unique_ptr<detail::planned_operation> detail::in_flight::taken_from(plan&& one) noexcept {
  return std::move(one.planned_);
}

}  // namespace weft
