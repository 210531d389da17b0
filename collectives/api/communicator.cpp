// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/message_operations.hpp>
#include <weft/calls/pending.hpp>
#include <weft/calls/planned_operation.hpp>
#include <weft/calls/recycled.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/communicator.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {
namespace detail {
namespace {

class pending_send final : public pending, public recycled<pending_send, most_recycled> {
 public:
  using pending::pending;
  std::vector<int> missing() const override { return {operation.peer}; }
  event& done() noexcept override { return operation.done; }
  const std::exception_ptr& failure() const noexcept override { return operation.failure; }
  awaited<fabric::send_operation> operation;
};

/// Of sends that ended before anybody could wait for them: of no communicator, and in all their handles at once.
class ended_send final : public pending {
 public:
  ended_send() : pending(nullptr, "isend") { done_.set(); }
  void retire() noexcept override {}
  status finish() override { return {}; }
  std::vector<int> missing() const override { return {}; }
  void await() override {}
  event& done() noexcept override { return done_; }
  const std::exception_ptr& failure() const noexcept override { return failure_; }

 private:
  event done_;
  const std::exception_ptr failure_;
};

begun_operation an_ended_send() {
  static ended_send all;
  return begun_operation(&all);
}

/// A short message, where it can leave now and nothing is recorded: see messenger::send_now.
bool send_now(communicator_state& state, std::span<const std::byte> data, int to, std::int64_t tag) {
  return state.records == nullptr && state.host.messages().send_now(state.member, to, wire_tag(tag), data);
}

status what_of(const fabric::probed_message& found) {
  return {found.source, static_cast<std::int64_t>(found.tag), found.bytes};
}

/// What a probe finds now; nothing, after other fibers had their turn, where no message has come.
std::optional<fabric::probed_message> look(communicator_state& state, const char* name, int from, std::int64_t tag,
                                           bool set_aside) {
  check_rank(state, name, "source", from, true);
  check_tag(state, name, tag, true);
  const trace::on_track_if here(state.records);
  state.host.moved_by().help();
  const int source = from == any_source ? fabric::any_peer : from;
  try {
    auto found = state.host.messages().probe(state.member, source, wire_tag(tag), set_aside);
    if (!found) scheduler::yield();  // it may be another fiber that is to send
    return found;
  } catch (const error&) {
    rethrow(state, name, std::current_exception());
  }
}

/// The same, blocking, as long as deadlines permit.
fabric::probed_message look_until_found(communicator_state& state, const char* name, int from, std::int64_t tag,
                                        bool set_aside) {
  const traced_call traced(state, name, 0, from, tag);
  const time_limit* const limit = time_limit::current();
  for (patience until_it_comes(state.host.moved_by());; until_it_comes.wait()) {
    if (const auto found = look(state, name, from, tag, set_aside)) return *found;
    if (limit != nullptr && state.host.moved_by().time().now() >= limit->when())
      throw_timed_out(where(state, name), named(from));
  }
}

class planned_send final : public planned_operation {
 public:
  planned_send(std::shared_ptr<communicator_state> its, std::span<const std::byte> data, int to, std::int64_t tag)
      : planned_operation(std::move(its), "plan_send") {
    prepare_message(operation_, state(), data, to, tag);
    operation_.may_wait = true;
    needs_ = {.is_send = true, .peer = to, .bytes = data.size()};
    state().host.messages().reserve(state().member, {&needs_, 1});
  }
  ~planned_send() override { state().host.messages().release(state().member, {&needs_, 1}); }
  std::vector<int> missing() const override { return {operation_.peer}; }
  event& done() noexcept override { return operation_.done; }
  const std::exception_ptr& failure() const noexcept override { return operation_.failure; }

 private:
  void begin() override {
    operation_.done.reset();
    operation_.failure = nullptr;
    if (send_now(state(), {operation_.data, operation_.bytes}, operation_.peer,
                 static_cast<std::int64_t>(operation_.tag)))
      operation_.done.set();
    else
      post(state(), operation_);
  }
  awaited<fabric::send_operation> operation_;
  fabric::planned_message needs_;
};

class planned_receive final : public planned_operation {
 public:
  planned_receive(std::shared_ptr<communicator_state> its, std::span<std::byte> data, int from, std::int64_t tag)
      : planned_operation(std::move(its), "plan_recv") {
    prepare_message(operation_, state(), data, from, tag);
  }
  std::vector<int> missing() const override { return named(operation_.peer); }
  event& done() noexcept override { return operation_.done; }
  const std::exception_ptr& failure() const noexcept override { return operation_.failure; }
  status result() const noexcept override { return status_of(operation_); }

 private:
  void begin() override {
    operation_.done.reset();
    post(state(), operation_);
  }
  awaited<fabric::receive_operation> operation_;
};

}  // namespace
}  // namespace detail

using detail::communicator_state;

communicator::communicator(std::shared_ptr<communicator_state> state) noexcept : state_(std::move(state)) {}
communicator::communicator(communicator&&) noexcept = default;
communicator& communicator::operator=(communicator&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
communicator::~communicator() {
  if (state_ != nullptr) state_->freed = true;
}

int communicator::rank() const noexcept { return state_->member.rank; }
int communicator::size() const noexcept { return state_->size(); }
std::span<const int> communicator::members() const noexcept { return state_->member.members->world; }

void communicator::send_bytes(std::span<const std::byte> data, int to, std::int64_t tag) {
  detail::check_message(*state_, "send", data, to, tag);
  if (detail::send_now(*state_, data, to, tag)) return;
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_send(data, to, tag, "send", detail::leaves::now));
    detail::finish_until(*limit, *state_, "send", std::move(begun), {to});
    return;
  }
  const detail::traced_call traced(*state_, "send", data.size(), to, tag);
  detail::awaited<fabric::send_operation> send;
  detail::prepare_message(send, *state_, data, to, tag);
  detail::post(*state_, send);
  detail::finish(*state_, "send", send);
}

void communicator::check_length(const status& what, std::size_t element_bytes, std::size_t count) const {
  if (what.bytes == count * element_bytes) return;
  throw error(errc::mismatched_call, detail::where(*state_, "recv") + ": the message of rank " +
                                         std::to_string(what.source) + " with tag " + std::to_string(what.tag) +
                                         " has " + std::to_string(what.bytes) + " bytes, and elements have " +
                                         std::to_string(element_bytes));
}

status communicator::receive_bytes(std::span<std::byte> data, int from, std::int64_t tag) {
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_receive(data, from, tag, "recv"));
    return detail::finish_until(*limit, *state_, "recv", std::move(begun), detail::named(from));
  }
  const detail::traced_call traced(*state_, "recv", data.size(), from, tag);
  detail::awaited<fabric::receive_operation> receive;
  detail::check_message(*state_, "recv", data, from, tag);
  detail::prepare_message(receive, *state_, data, from, tag);
  detail::post(*state_, receive);
  detail::finish(*state_, "recv", receive);
  return detail::status_of(receive);
}

status communicator::exchange_bytes(std::span<const std::byte> data, int to, std::int64_t send_tag,
                                    std::span<std::byte> into, int from, std::int64_t receive_tag) {
  if (const time_limit* const limit = time_limit::current(); limit != nullptr) [[unlikely]] {
    std::vector<handle> begun;
    begun.push_back(start_receive(into, from, receive_tag, "sendrecv"));
    begun.push_back(start_send(data, to, send_tag, "sendrecv", detail::leaves::now));
    return detail::finish_until(*limit, *state_, "sendrecv", std::move(begun), detail::named(from));
  }
  const detail::traced_call traced(*state_, "sendrecv", data.size(), to, send_tag);
  detail::awaited<fabric::receive_operation> receive;
  detail::awaited<fabric::send_operation> send;
  detail::check_message(*state_, "sendrecv", into, from, receive_tag);
  detail::check_message(*state_, "sendrecv", data, to, send_tag);
  detail::prepare_message(receive, *state_, into, from, receive_tag);
  detail::prepare_message(send, *state_, data, to, send_tag);
  detail::post(*state_, receive);
  detail::post(*state_, send);
  detail::await(*state_, send);
  detail::await(*state_, receive);
  if (receive.failure != nullptr) detail::rethrow(*state_, "sendrecv", receive.failure);
  if (send.failure != nullptr) detail::rethrow(*state_, "sendrecv", send.failure);
  return detail::status_of(receive);
}

handle communicator::start_send(std::span<const std::byte> data, int to, std::int64_t tag, const char* name,
                                detail::leaves when) {
  detail::check_message(*state_, name, data, to, tag);
  const bool synchronous = when == detail::leaves::when_received;
  if (!synchronous && detail::send_now(*state_, data, to, tag)) return handle(detail::an_ended_send());
  auto begun = std::make_unique<detail::pending_send>(state_, name);
  detail::prepare_message(begun->operation, *state_, data, to, tag);
  begun->operation.synchronous = synchronous;
  begun->operation.may_wait = when == detail::leaves::with_others;
  detail::note_start(*begun, synchronous ? name : "isend", tag);
  detail::post(*state_, begun->operation);
  return handle(std::move(begun));
}

handle communicator::start_receive(std::span<std::byte> data, int from, std::int64_t tag, const char* name) {
  detail::check_message(*state_, name, data, from, tag);
  auto begun = std::make_unique<detail::pending_receive>(state_, name);
  detail::prepare_message(begun->operation, *state_, data, from, tag);
  detail::note_start(*begun, "irecv", tag);
  detail::post(*state_, begun->operation);
  return handle(std::move(begun));
}

plan communicator::plan_message(std::span<const std::byte> data, int to, std::int64_t tag) {
  detail::check_message(*state_, "plan_send", data, to, tag);
  auto made = std::make_unique<detail::planned_send>(state_, data, to, tag);
  detail::note_plan(*made, "send", data.size(), to, tag);
  return plan(std::move(made));
}

plan communicator::plan_message(std::span<std::byte> data, int from, std::int64_t tag) {
  detail::check_message(*state_, "plan_recv", data, from, tag);
  auto made = std::make_unique<detail::planned_receive>(state_, data, from, tag);
  detail::note_plan(*made, "recv", data.size(), from, tag);
  return plan(std::move(made));
}

std::optional<status> communicator::iprobe(int from, std::int64_t tag) {
  const auto found = detail::look(*state_, "probe", from, tag, false);
  return found ? std::optional(detail::what_of(*found)) : std::nullopt;
}

status communicator::probe(int from, std::int64_t tag) {
  return detail::what_of(detail::look_until_found(*state_, "probe", from, tag, false));
}

std::optional<matched_message> communicator::improbe(int from, std::int64_t tag) {
  const auto found = detail::look(*state_, "mprobe", from, tag, true);
  if (!found) return std::nullopt;
  return matched_message(state_, found->aside, detail::what_of(*found));
}

matched_message communicator::mprobe(int from, std::int64_t tag) {
  const auto found = detail::look_until_found(*state_, "mprobe", from, tag, true);
  return {state_, found.aside, detail::what_of(found)};
}

}  // namespace weft
