// SPDX-License-Identifier: Apache-2.0
// Waiting for several of what is in flight.
//
//   for (std::size_t i; (i = weft::wait_any(handles)) != handles.size();) handles[i].wait();
#pragma once

#include <weft/api.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>
#include <weft/handle.hpp>
#include <weft/pending_communicator.hpp>
#include <weft/plan.hpp>

namespace weft {

namespace detail {
/// What is in flight; null: nothing.
struct WEFT_API in_flight {
  static pending* of(const handle& one) noexcept;
  static pending* of(const plan& one) noexcept;
  static pending* of(const pending_communicator& one) noexcept;
  /// Out of what holds it.
  static begun_operation taken_from(handle&& one) noexcept { return std::move(one.operation_); }
  static std::unique_ptr<planned_operation> taken_from(plan&& one) noexcept;
};

/// Waits until one of those that are not null is done: its index. As many as there are where all are null. Throws
/// errc::invalid_argument where they are of several runtimes.
WEFT_API std::size_t wait_any(std::span<pending* const> all);
/// The same without blocking. As many as there are where none is done.
WEFT_API std::size_t test_any(std::span<pending* const> all);
/// As wait_any: the indices of all that are done.
WEFT_API std::vector<std::size_t> wait_some(std::span<pending* const> all);

template <class R>
std::vector<pending*> operations_of(R&& waited) {
  std::vector<pending*> all;
  for (auto& each : waited) all.push_back(in_flight::of(each));
  return all;
}
}  // namespace detail

/// Handles, plans or pending communicators in any range: an array, a vector, a list, a view of them.
template <class R>
concept waitable_range = std::ranges::input_range<R> &&
    (std::same_as<std::ranges::range_reference_t<R>, handle&> ||
     std::same_as<std::ranges::range_reference_t<R>, plan&> ||
     std::same_as<std::ranges::range_reference_t<R>, pending_communicator&>);

/// Waits for all that are in flight, in whatever order they end; then throws the first error, if any. Not for pending
/// communicators, whose `wait` returns something.
template <waitable_range R>
requires(!std::same_as<std::ranges::range_value_t<R>, pending_communicator>) void wait_all(R&& waited) {
  std::exception_ptr first;
  for (auto& each : waited) {
    if (detail::in_flight::of(each) == nullptr) continue;
    try {
      each.wait();
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

/// Blocks until one that is in flight is done: its index. Its `wait` then returns at once, with the result or the
/// error. Where none is in flight, as many as there are.
///
/// All are of one runtime's communicators, and nobody else waits for one of them.
template <waitable_range R>
std::size_t wait_any(R&& waited) {
  return detail::wait_any(detail::operations_of(waited));
}

/// The same without blocking: nothing where none that is in flight is done, after other fibers had their turn.
template <waitable_range R>
std::optional<std::size_t> test_any(R&& waited) {
  const std::vector<detail::pending*> all = detail::operations_of(waited);
  const std::size_t found = detail::test_any(all);
  return found == all.size() ? std::nullopt : std::optional(found);
}

/// Blocks until one that is in flight is done: the indices of all that are done, ascending. Empty where none is in
/// flight. As wait_any.
template <waitable_range R>
std::vector<std::size_t> wait_some(R&& waited) {
  return detail::wait_some(detail::operations_of(waited));
}

}  // namespace weft
