// SPDX-License-Identifier: Apache-2.0
// Messages whose buffers do not lie in one piece: of a copy that does.
#include <memory>
#include <utility>
#include <vector>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/message_operations.hpp>
#include <weft/calls/pending_by_another.hpp>
#include <weft/calls/planned_operation.hpp>
#include <weft/communicator.hpp>
#include <weft/matched_message.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {
namespace detail {
namespace {

/// The copy.
class packed_message {
 public:
  packed_message(const communicator_state& state, const char* operation, const pieces& data)
      : lies_(data.how.lies(data.how)), at_(static_cast<std::byte*>(data.at)), bytes_(data.bytes) {
    check_memory(state, operation, at_, bytes_);
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  }
  std::span<std::byte> bytes() const noexcept { return {scratch_.get(), bytes_}; }
  /// What is in the caller's buffer now.
  std::span<const std::byte> pack() const noexcept {
    lies_->as.pack(scratch_.get(), at_, lies_->extent, bytes_);
    return bytes();
  }
  /// The first so many bytes into it.
  void unpack(std::size_t received) const noexcept { lies_->as.unpack(at_, lies_->extent, scratch_.get(), received); }

 private:
  std::shared_ptr<const spread> lies_;
  std::byte* at_;
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> scratch_;
};

/// A message of the copy, which is its own.
class pending_in_pieces final : public pending_by_another {
 public:
  pending_in_pieces(std::shared_ptr<communicator_state> state, const char* operation, packed_message&& data)
      : pending_by_another(std::move(state), operation), data_(std::move(data)) {}
  ~pending_in_pieces() override { other.reset(); }  // it uses the copy
  const packed_message& data() const noexcept { return data_; }
  void receives() noexcept { is_due_ = true; }
  void deliver() noexcept override {
    other->note_end();
    if (std::exchange(is_due_, false)) data_.unpack(other->result().bytes);
  }

 private:
  packed_message data_;
  bool is_due_ = false;
};

/// The same, planned.
class planned_in_pieces final : public planned_operation {
 public:
  planned_in_pieces(std::shared_ptr<communicator_state> state, const char* operation, packed_message&& data, bool sends)
      : planned_operation(std::move(state), operation), data_(std::move(data)), sends_(sends) {}
  ~planned_in_pieces() override { other.reset(); }
  event& done() override { return other->done(); }
  void await() override { other->await(); }
  const std::exception_ptr& failure() const noexcept override { return other->failure(); }
  status result() const noexcept override { return other->result(); }
  std::vector<int> missing() const override { return other->missing(); }
  void deliver() noexcept override {
    if (!std::exchange(is_due_, false)) return;
    if (!sends_) data_.unpack(other->result().bytes);
  }
  const packed_message& data() const noexcept { return data_; }
  std::unique_ptr<planned_operation> other;

 private:
  bool advance() override { return other->ready(); }
  void begin() override {
    if (sends_) data_.pack();
    is_due_ = true;
    other->start();
  }

  packed_message data_;
  bool sends_;
  bool is_due_ = false;
};

}  // namespace
}  // namespace detail

void communicator::send_pieces(const detail::pieces& data, int to, std::int64_t tag) {
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_send(data, to, tag, "send", detail::leaves::now));
    detail::finish_until(*limit, *state_, "send", std::move(begun), {to});
    return;
  }
  send_bytes(detail::packed_message(*state_, "send", data).pack(), to, tag);
}

status communicator::receive_pieces(const detail::pieces& data, int from, std::int64_t tag) {
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_receive(data, from, tag, "recv"));
    return detail::finish_until(*limit, *state_, "recv", std::move(begun), detail::named(from));
  }
  const detail::packed_message packed(*state_, "recv", data);
  const status what = receive_bytes(packed.bytes(), from, tag);
  packed.unpack(what.bytes);
  return what;
}

/// Of a sendrecv.
status communicator::finish_exchange(handle received, handle sent, int from) {
  std::vector<handle> begun;
  begun.push_back(std::move(received));
  begun.push_back(std::move(sent));
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]]
    return detail::finish_until(*limit, *state_, "sendrecv", std::move(begun), detail::named(from));
  const status what = begun[0].wait();
  begun[1].wait();
  return what;
}

handle communicator::start_send(const detail::pieces& data, int to, std::int64_t tag, const char* name,
                                detail::leaves when) {
  auto begun = std::make_unique<detail::pending_in_pieces>(state_, name, detail::packed_message(*state_, name, data));
  begun->other = detail::in_flight::taken_from(start_send(begun->data().pack(), to, tag, name, when));
  return handle(std::move(begun));
}

handle communicator::start_receive(const detail::pieces& data, int from, std::int64_t tag, const char* name) {
  auto begun = std::make_unique<detail::pending_in_pieces>(state_, name, detail::packed_message(*state_, name, data));
  begun->other = detail::in_flight::taken_from(start_receive(begun->data().bytes(), from, tag, name));
  begun->receives();
  return handle(std::move(begun));
}

plan communicator::plan_send_pieces(const detail::pieces& data, int to, std::int64_t tag) {
  auto made = std::make_unique<detail::planned_in_pieces>(state_, "plan_send",
                                                          detail::packed_message(*state_, "plan_send", data), true);
  made->other = detail::in_flight::taken_from(plan_message(std::span<const std::byte>(made->data().bytes()), to, tag));
  return plan(std::move(made));
}

plan communicator::plan_receive_pieces(const detail::pieces& data, int from, std::int64_t tag) {
  auto made = std::make_unique<detail::planned_in_pieces>(state_, "plan_recv",
                                                          detail::packed_message(*state_, "plan_recv", data), false);
  made->other = detail::in_flight::taken_from(plan_message(made->data().bytes(), from, tag));
  return plan(std::move(made));
}

status matched_message::receive_pieces(const detail::pieces& data) {
  handle begun = start_receive(data, "recv");
  return begun.wait();
}

handle matched_message::start_receive(const detail::pieces& data, const char* name) {
  check({}, name);
  auto begun = std::make_unique<detail::pending_in_pieces>(at_, name, detail::packed_message(*at_, name, data));
  begun->other = detail::in_flight::taken_from(start_receive(begun->data().bytes(), name));
  begun->receives();
  return handle(std::move(begun));
}

}  // namespace weft
