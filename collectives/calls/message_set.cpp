// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <weft/calls/message_set.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {

message_set::~message_set() {
  if (!reserved_.empty()) of_.host.messages().release(of_.member, reserved_);
}

void message_set::send(std::span<const std::byte> data, int to, std::int64_t tag) {
  prepare_message(sends_.emplace_back(*this), of_, data, to, tag);
}

void message_set::receive(std::span<std::byte> into, int from, std::int64_t tag) {
  prepare_message(receives_.emplace_back(*this), of_, into, from, tag);
}

void message_set::reserve() {
  std::vector<fabric::planned_message> needs;
  for (const auto& each : sends_) needs.push_back({.is_send = true, .peer = each.peer, .bytes = each.bytes});
  of_.host.messages().reserve(of_.member, needs);
  reserved_ = std::move(needs);
}

void message_set::begin() {
  done_.reset();
  failure_ = nullptr;
  left_.store(receives_.size() + sends_.size() + 1, std::memory_order_relaxed);  // relaxed: posting orders
  for (auto& each : receives_) {
    each.failure = nullptr;
    of_.host.messages().post(each);
  }
  for (auto& each : sends_) {
    each.failure = nullptr;
    if (of_.records == nullptr &&
        of_.host.messages().send_now(of_.member, each.peer, each.tag, {each.data, each.bytes}))
      count_down();
    else
      of_.host.messages().post(each);
  }
  if (of_.host.moved_by().threaded()) of_.host.moved_by().notify();
  count_down();
}

std::vector<int> message_set::awaited() const {
  std::vector<int> all;
  const auto note = [&](const fabric::operation& of) {
    using enum fabric::operation::stage;
    if (of.now != idle && of.now != ended) all.push_back(of.peer);
  };
  of_.host.messages().while_held([&] {
    for (const auto& each : receives_) note(each);
    for (const auto& each : sends_) note(each);
  });
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::size_t message_set::bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto& each : sends_) sum += each.bytes;
  return sum;
}

/// The last one leaves the set to whoever waits.
void message_set::count_down() noexcept {
  // acq_rel: what each has left is visible to the last.
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  look_for_failure();
  done_.set();
}

void message_set::look_for_failure() noexcept {
  const auto note = [&](const fabric::operation& of) {
    if (failure_ == nullptr) failure_ = of.failure;
  };
  for (const auto& each : receives_) note(each);
  for (const auto& each : sends_) note(each);
  if (failure_ != nullptr) return;
  for (const auto& each : receives_) {
    if (each.received == each.bytes) continue;
    try {
      throw error(errc::mismatched_call, "rank " + std::to_string(each.peer) + " sent " +
                                             std::to_string(each.received) + " bytes where " +
                                             std::to_string(each.bytes) + " were expected");
    } catch (...) {
      failure_ = std::current_exception();
    }
    return;
  }
}

}  // namespace weft::detail
