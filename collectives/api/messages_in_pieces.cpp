// SPDX-License-Identifier: Apache-2.0
// Messages whose buffers do not lie in one piece: of a copy that does.
#include <memory>
#include <utility>
#include <vector>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/message_operations.hpp>
#include <weft/calls/packed_copy.hpp>
#include <weft/calls/pending_by_another.hpp>
#include <weft/communicator.hpp>
#include <weft/matched_message.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {
namespace detail {
namespace {

packed_copy copy_in_one_piece(const communicator_state& state, const char* operation, const pieces& data) {
  check_memory(state, operation, data.at, data.bytes);
  return {data.how->lies(*data.how), data.at, data.bytes, state.host.budget()};
}

/// A message of the copy, which is its own.
class pending_in_pieces final : public pending_by_another {
 public:
  pending_in_pieces(std::shared_ptr<communicator_state> state, const char* operation, packed_copy&& data)
      : pending_by_another(std::move(state), operation), data_(std::move(data)) {}
  ~pending_in_pieces() override { other.reset(); }  // it uses the copy
  const packed_copy& data() const noexcept { return data_; }
  void receives() noexcept { is_due_ = true; }
  void deliver() noexcept override {
    other->note_end();
    if (std::exchange(is_due_, false)) data_.unpack(other->result().bytes);
  }

 private:
  packed_copy data_;
  bool is_due_ = false;
};

/// The same, planned.
class planned_in_pieces final : public planned_by_another {
 public:
  planned_in_pieces(std::shared_ptr<communicator_state> state, const char* operation, packed_copy&& data, bool sends)
      : planned_by_another(std::move(state), operation), data_(std::move(data)), sends_(sends) {}
  ~planned_in_pieces() override { other.reset(); }
  const packed_copy& data() const noexcept { return data_; }
  void deliver() noexcept override {
    if (std::exchange(is_due_, false) && !sends_) data_.unpack(other->result().bytes);
  }

 private:
  void begin() override {
    if (sends_) data_.pack();
    is_due_ = true;
    other->start();
  }

  packed_copy data_;
  bool sends_;
  bool is_due_ = false;
};

}  // namespace
}  // namespace detail

void communicator::send_pieces(const detail::pieces& data, int to, std::int64_t tag) {
  if (data.how == nullptr) return send_bytes(data.whole(), to, tag);
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_send(data, to, tag, "send", detail::leaves::now));
    detail::finish_until(*limit, *state_, "send", std::move(begun), {to});
    return;
  }
  send_bytes(detail::copy_in_one_piece(*state_, "send", data).pack(), to, tag);
}

status communicator::receive_pieces(const detail::pieces& data, int from, std::int64_t tag) {
  if (data.how == nullptr) return receive_bytes(data.whole(), from, tag);
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_receive(data, from, tag, "recv"));
    return detail::finish_until(*limit, *state_, "recv", std::move(begun), detail::named(from));
  }
  const detail::packed_copy packed = detail::copy_in_one_piece(*state_, "recv", data);
  const status what = receive_bytes(packed.bytes(), from, tag);
  packed.unpack(what.bytes);
  return what;
}

status communicator::exchange_pieces(const detail::pieces& data, int to, std::int64_t send_tag,
                                     const detail::pieces& into, int from, std::int64_t receive_tag) {
  detail::check_message(*state_, "sendrecv", into.whole(), from, receive_tag);
  detail::check_message<const std::byte>(*state_, "sendrecv", data.whole(), to, send_tag);
  std::vector<handle> begun;
  begun.push_back(start_receive(into, from, receive_tag, "sendrecv"));
  begun.push_back(start_send(data, to, send_tag, "sendrecv", detail::leaves::now));
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]]
    return detail::finish_until(*limit, *state_, "sendrecv", std::move(begun), detail::named(from));
  for (const handle& each : begun) detail::in_flight::of(each)->await();  // both, before one throws
  const status what = begun[0].wait();
  begun[1].wait();
  return what;
}

handle communicator::start_send(const detail::pieces& data, int to, std::int64_t tag, const char* name,
                                detail::leaves when) {
  if (data.how == nullptr) return start_send(data.whole(), to, tag, name, when);
  auto begun =
      std::make_unique<detail::pending_in_pieces>(state_, name, detail::copy_in_one_piece(*state_, name, data));
  begun->other = detail::in_flight::taken_from(start_send(begun->data().pack(), to, tag, name, when));
  return handle(std::move(begun));
}

handle communicator::start_receive(const detail::pieces& data, int from, std::int64_t tag, const char* name) {
  if (data.how == nullptr) return start_receive(data.whole(), from, tag, name);
  auto begun =
      std::make_unique<detail::pending_in_pieces>(state_, name, detail::copy_in_one_piece(*state_, name, data));
  begun->other = detail::in_flight::taken_from(start_receive(begun->data().bytes(), from, tag, name));
  begun->receives();
  return handle(std::move(begun));
}

plan communicator::plan_send_pieces(const detail::pieces& data, int to, std::int64_t tag) {
  const std::span<const std::byte> whole = data.whole();
  if (data.how == nullptr) return plan_message(whole, to, tag);
  auto made = std::make_unique<detail::planned_in_pieces>(state_, "plan_send",
                                                          detail::copy_in_one_piece(*state_, "plan_send", data), true);
  made->other = detail::in_flight::taken_from(plan_message(std::span<const std::byte>(made->data().bytes()), to, tag));
  detail::note_plan(*made, "send", data.bytes, to, tag);
  return plan(std::move(made));
}

plan communicator::plan_receive_pieces(const detail::pieces& data, int from, std::int64_t tag) {
  if (data.how == nullptr) return plan_message(data.whole(), from, tag);
  auto made = std::make_unique<detail::planned_in_pieces>(state_, "plan_recv",
                                                          detail::copy_in_one_piece(*state_, "plan_recv", data), false);
  made->other = detail::in_flight::taken_from(plan_message(made->data().bytes(), from, tag));
  detail::note_plan(*made, "recv", data.bytes, from, tag);
  return plan(std::move(made));
}

status matched_message::receive_pieces(const detail::pieces& data) {
  if (data.how == nullptr) return receive_bytes(data.whole());
  const auto at = at_;
  std::vector<handle> begun;
  begun.push_back(start_receive(data, "recv"));
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]]
    return detail::finish_until(*limit, *at, "recv", std::move(begun), {what_.source});
  return begun[0].wait();
}

handle matched_message::start_receive(const detail::pieces& data, const char* name) {
  if (data.how == nullptr) return start_receive(data.whole(), name);
  check({}, name);
  auto begun = std::make_unique<detail::pending_in_pieces>(at_, name, detail::copy_in_one_piece(*at_, name, data));
  begun->other = detail::in_flight::taken_from(start_receive(begun->data().bytes(), name));
  begun->receives();
  return handle(std::move(begun));
}

}  // namespace weft
