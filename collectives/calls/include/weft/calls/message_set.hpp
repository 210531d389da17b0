// SPDX-License-Identifier: Apache-2.0
// Messages of a rank that begin together, and are over when all of them are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>
#include <weft/calls/message_operations.hpp>
#include <weft/calls/planned_operation.hpp>
#include <weft/fabric/messenger.hpp>

namespace weft::detail {

/// Stays in place while they are in flight; may begin again when they are over.
class message_set {
 public:
  explicit message_set(communicator_state& of) noexcept : of_(of) {}
  message_set(const message_set&) = delete;
  message_set& operator=(const message_set&) = delete;
  ~message_set();

  /// What has been checked. Nothing is in flight.
  void send(std::span<const std::byte> data, int to, std::int64_t tag);
  /// Of exactly as many bytes.
  void receive(std::span<std::byte> into, int from, std::int64_t tag);
  /// Makes room for its sends in the messenger. Once, behind the last of them.
  void reserve();

  void begin();
  /// Is set when all are over.
  event& done() noexcept { return done_; }
  /// Of the first that has failed, once all are over.
  const std::exception_ptr& failure() const noexcept { return failure_; }
  /// The ranks whose messages are not over, ascending.
  std::vector<int> awaited() const;
  /// Of what it sends.
  std::size_t bytes() const noexcept;

 private:
  template <class Operation>
  struct counted final : Operation {
    explicit counted(message_set& of) noexcept : all(of) {}
    void finished() noexcept override { all.count_down(); }
    message_set& all;
  };

  void count_down() noexcept;
  void look_for_failure() noexcept;

  communicator_state& of_;
  std::deque<counted<fabric::receive_operation>> receives_;
  std::deque<counted<fabric::send_operation>> sends_;
  std::vector<fabric::planned_message> reserved_;
  std::atomic<std::size_t> left_{0};  ///< that are not over, and one while they begin
  event done_;
  std::exception_ptr failure_;
};

/// A set in flight, as a handle holds it, or one to be started again and again.
template <class Base>
class holding_messages : public Base {
 public:
  holding_messages(const std::shared_ptr<communicator_state>& its, const char* operation)
      : Base(its, operation), all(*its) {}
  std::vector<int> missing() const override { return all.awaited(); }
  event& done() noexcept override { return all.done(); }
  const std::exception_ptr& failure() const noexcept override { return all.failure(); }

  message_set all;
};

using pending_messages = holding_messages<pending>;

class planned_messages final : public holding_messages<planned_operation> {
 public:
  using holding_messages::holding_messages;

 private:
  void begin() override { all.begin(); }
};

}  // namespace weft::detail
