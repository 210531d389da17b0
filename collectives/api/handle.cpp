// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>
#include <weft/calls/pending.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/wait.hpp>

namespace weft {

void detail::retires::operator()(pending* operation) const noexcept {
  operation->note_end();
  operation->forget_waiters();
  operation->retire();
}

void handle::abandon() noexcept { operation_->abandon(); }

void handle::drop() noexcept {
  if (operation_ != nullptr && !operation_->ready()) operation_->break_communicator();
  const handle dropped(std::move(*this));
}

bool handle::test() {
  if (operation_ == nullptr)
    throw error(errc::invalid_argument,
                "test of a handle that holds no operation: it was waited for already, or never began");
  if (!operation_->ready()) return false;
  operation_->note_end();
  if (operation_->failure() != nullptr) wait();
  operation_->deliver();
  return true;
}

status handle::wait() {
  if (operation_ == nullptr)
    throw error(errc::invalid_argument,
                "wait for a handle that holds no operation: it was waited for already, or never began");
  if (!operation_->done().ready()) {
    const detail::traced_call traced(operation_->state(), "wait");
    operation_->await_in_time();
  }
  operation_->note_end();
  const auto ended = std::move(operation_);
  return ended->finish();
}

bool handle::wait_until(std::chrono::steady_clock::time_point deadline) {
  if (operation_ == nullptr)
    throw error(errc::invalid_argument,
                "wait for a handle that holds no operation: it was waited for already, or never began");
  if (!operation_->done().ready()) {
    const detail::traced_call traced(operation_->state(), "wait");
    if (!operation_->done().wait_until(operation_->state().host.moved_by(), deadline)) return false;
  }
  operation_->note_end();
  if (operation_->failure() == nullptr) operation_->deliver();
  return true;
}

bool handle::done() const noexcept { return operation_ != nullptr && operation_->done().ready(); }

bool handle::cancel() {
  if (operation_ == nullptr)
    throw error(errc::invalid_argument,
                "cancel of a handle that holds no operation: it was waited for already, or never began");
  if (operation_->done().ready() || !operation_->cancel()) return false;
  operation_.reset();
  return true;
}

detail::pending* detail::in_flight::of(const handle& one) noexcept { return one.operation_.get(); }

}  // namespace weft
