// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <utility>
#include <weft/api/pending_division.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/wait.hpp>

namespace weft {

pending_communicator::pending_communicator() noexcept = default;
pending_communicator::pending_communicator(std::unique_ptr<detail::division> begun) noexcept
    : division_(std::move(begun)) {}
pending_communicator::pending_communicator(pending_communicator&&) noexcept = default;
pending_communicator& pending_communicator::operator=(pending_communicator&& other) noexcept {
  const pending_communicator old(std::move(*this));
  division_ = std::move(other.division_);
  return *this;
}

pending_communicator::~pending_communicator() {
  if (division_ == nullptr || division_->is_given_up()) return;
  try {
    const no_time_limit whole;
    wait();
  } catch (const std::exception&) {  // the others that have got it hear that this rank has not
  }
}

/// What `at` returns of the exchange. Where that has failed nothing is pending any more.
template <class Look>
bool pending_communicator::look(const char* name, Look&& at) {
  if (division_ == nullptr)
    throw error(errc::invalid_argument, std::string(name) + " of a pending communicator that is none: it was waited " +
                                            "for already, or never began");
  try {
    return at(division_->exchange);
  } catch (const timed_out& late) {
    detail::throw_timed_out(detail::where(*division_->state, division_->operation),
                            {late.missing().begin(), late.missing().end()});
  } catch (const error&) {
    const auto failed = std::move(division_);
    detail::rethrow(*failed->state, failed->operation, std::current_exception());
  }
}

bool pending_communicator::done() const noexcept { return division_ != nullptr && division_->exchange.done(); }

bool pending_communicator::test() {
  return look("test", [](handle& exchange) { return exchange.test(); });
}

bool pending_communicator::wait_until(std::chrono::steady_clock::time_point deadline) {
  return look("wait", [&](handle& exchange) { return exchange.wait_until(deadline); });
}

std::optional<communicator> pending_communicator::wait() {
  look("wait", [](handle& exchange) {
    exchange.wait();
    return true;
  });
  return std::exchange(division_, nullptr)->join();
}

detail::pending* detail::in_flight::of(const pending_communicator& one) noexcept {
  return one.valid() ? of(one.division_->exchange) : nullptr;
}

}  // namespace weft
