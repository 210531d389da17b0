// SPDX-License-Identifier: Apache-2.0
// Frames that wait for credit, for the provider, or behind others.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <memory>
#include <ranges>
#include <utility>
#include <weft/fabric/operation.hpp>
#include <weft/runtime/copy_bytes.hpp>

#include "object_pool.hpp"
#include "wire.hpp"

namespace weft::fabric {

/// Bodies of so few bytes are kept without memory of their own.
inline constexpr std::size_t short_body = 64;

struct outgoing {
  header head;
  std::size_t bytes = 0;                   ///< of the body
  send_operation* operation = nullptr;     ///< whose message the body is: it ends when this has left. Else
  std::array<std::byte, short_body> copy;  ///< the body, where there is room for it here,
  std::unique_ptr<std::byte[]> longer;     ///< or there
  boost::intrusive::list_member_hook<> queued;

  const std::byte* body() const noexcept {
    if (operation != nullptr) return operation->data;
    return longer != nullptr ? longer.get() : copy.data();
  }
  /// Whether its operation would end by a copy: a collective's need not.
  bool may_be_copied() const noexcept { return operation != nullptr && head.matching == space::message; }
};

/// Those to one process, first in, first out. What has left is kept for other queues of the same pool.
class outgoing_queue {
 public:
  explicit outgoing_queue(object_pool<outgoing>& spare) noexcept : spare_(spare) {}
  outgoing_queue(const outgoing_queue&) = delete;
  outgoing_queue& operator=(const outgoing_queue&) = delete;
  ~outgoing_queue() { clear(); }

  bool empty() const noexcept { return waiting_.empty(); }
  outgoing& front() noexcept { return waiting_.front(); }
  outgoing& back() noexcept { return waiting_.back(); }
  /// From the last on.
  auto backwards() noexcept { return std::ranges::subrange(waiting_.rbegin(), waiting_.rend()); }
  auto begin() const noexcept { return waiting_.begin(); }
  auto end() const noexcept { return waiting_.end(); }

  /// With a body that is copied. Allocates memory only for a long one. Throws std::bad_alloc.
  void push(const header& head, const std::byte* body, std::size_t bytes) {
    std::unique_ptr<std::byte[]> longer;
    if (bytes > short_body) longer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    outgoing& last = add(head, bytes);
    last.longer = std::move(longer);
    copy_bytes(last.longer != nullptr ? last.longer.get() : last.copy.data(), body, bytes);
  }
  /// With the operation's message, which stays where it is. Throws std::bad_alloc.
  void push(const header& head, send_operation& whole) {
    outgoing& last = add(head, whole.bytes);
    last.operation = &whole;
    to_copy_ += last.may_be_copied();
  }
  /// It is its message no more: null.
  send_operation* take_operation(outgoing& of) noexcept {
    to_copy_ -= of.may_be_copied();
    return std::exchange(of.operation, nullptr);
  }
  /// Whether any may_be_copied().
  bool any_to_copy() const noexcept { return to_copy_ != 0; }

  void pop() noexcept { drop(waiting_.begin()); }
  void remove(const operation& of) noexcept {
    for (auto each = waiting_.begin(); each != waiting_.end(); ++each)
      if (each->operation == &of) return drop(each);
  }
  void clear() noexcept {
    while (!empty()) pop();
  }

 private:
  using list = boost::intrusive::list<
      outgoing, boost::intrusive::member_hook<outgoing, boost::intrusive::list_member_hook<>, &outgoing::queued>,
      boost::intrusive::constant_time_size<false>>;

  outgoing& add(const header& head, std::size_t bytes) {
    outgoing& last = *spare_.take().release();
    last.head = head;
    last.bytes = bytes;
    waiting_.push_back(last);
    return last;
  }
  void drop(list::iterator gone) noexcept {
    std::unique_ptr<outgoing> left(&*gone);
    waiting_.erase(gone);
    take_operation(*left);
    left->longer.reset();
    spare_.keep(std::move(left));
  }

  object_pool<outgoing>& spare_;
  list waiting_;
  std::size_t to_copy_ = 0;
};

}  // namespace weft::fabric
