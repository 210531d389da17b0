// SPDX-License-Identifier: Apache-2.0
// What a window's messages have in flight.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <weft/calls/message_operations.hpp>
#include <weft/window/window_messages.hpp>

namespace weft::detail {

/// Whose turn it is to post what is queued: whoever holds the token, so that it goes in order.
class window_messages::pump final : public fabric::task {
 public:
  explicit pump(window_messages& of) noexcept : of_(of) {}
  void ask() noexcept {
    // seq_cst, and in run_held(): who finds it asked for has queued before that looks.
    if (!is_asked_.exchange(true)) of_.own_.host.messages().post(*this);
    if (of_.own_.host.moved_by().threaded()) of_.own_.host.moved_by().notify();
  }
  bool is_asked() const noexcept { return is_asked_.load(); }

 private:
  void run_held() noexcept override {
    is_asked_.store(false);
    of_.send_held();
  }
  window_messages& of_;
  std::atomic<bool> is_asked_{false};
};

class window_messages::message final : public fabric::send_operation {
 public:
  explicit message(window_messages& of)
      : of_(of),
        charge_(of.own_.host.budget(), of.capacity_, "a message of a window"),
        memory_(std::make_unique_for_overwrite<std::byte[]>(of.capacity_)) {
    at = &of.own_.member;
    tag = records_tag;
    data = memory_.get();
  }
  std::byte* end() noexcept { return memory_.get() + bytes; }

 private:
  void finished() noexcept override {
    {
      const std::lock_guard lock(of_.guard_);
      of_.at_rest_.emplace_back(this);  // as many are reserved as are made
    }
    of_.in_use_.fetch_sub(1);
    of_.note_end(*this);
  }
  window_messages& of_;
  const memory_charge charge_;
  const std::unique_ptr<std::byte[]> memory_;
};

class window_messages::standing final : public fabric::receive_operation {
 public:
  explicit standing(window_messages& of)
      : of_(of),
        charge_(of.own_.host.budget(), of.capacity_, "a message of a window"),
        memory_(std::make_unique_for_overwrite<std::byte[]>(of.capacity_)) {
    at = &of.own_.member;
    peer = fabric::any_peer;
    tag = records_tag;
    data = memory_.get();
    bytes = of.capacity_;
    ahead = true;
  }

 private:
  void finished() noexcept override {
    if (failure == nullptr && received != 0) of_.take(source, {data, received});
    if (failure != nullptr || of_.stops_.load()) return of_.note_end(*this);
    of_.own_.host.messages().post_held(*this);
  }
  window_messages& of_;
  const memory_charge charge_;
  const std::unique_ptr<std::byte[]> memory_;
};

class window_messages::departure final : public fabric::send_operation {
 public:
  /// `counted` in that peer's; null: others have asked for it.
  departure(window_messages& of, int rank, std::uint64_t number, std::span<const std::byte> contents,
            window_messages::peer* counted) noexcept
      : of_(of), counted_(counted) {
    prepare_message(*this, of.own_, contents, rank, static_cast<std::int64_t>(number));
  }

 private:
  void finished() noexcept override {
    const std::unique_ptr<departure> mine(this);
    of_.note_end(*this, counted_);
  }
  window_messages& of_;
  window_messages::peer* const counted_;
};

class window_messages::arrival final : public fabric::receive_operation {
 public:
  arrival(window_messages& of, int rank, std::uint64_t number, std::span<std::byte> into,
          window_messages::peer& counted) noexcept
      : of_(of), counted_(counted) {
    prepare_message(*this, of.own_, into, rank, static_cast<std::int64_t>(number));
  }

 private:
  void finished() noexcept override {
    const std::unique_ptr<arrival> mine(this);
    of_.note_end(*this, &counted_);
  }
  window_messages& of_;
  window_messages::peer& counted_;
};

class window_messages::landing final : public fabric::receive_operation {
 public:
  landing(window_messages& of, int source, std::uint64_t number, std::span<std::byte> into,
          std::uint64_t order) noexcept
      : of_(of), order_(order) {
    prepare_message(*this, of.own_, into, source, static_cast<std::int64_t>(number));
  }

 private:
  void finished() noexcept override {
    const std::unique_ptr<landing> mine(this);
    if (failure == nullptr) of_.landed(peer, order_);
    of_.note_end(*this);
  }
  window_messages& of_;
  const std::uint64_t order_;
};

}  // namespace weft::detail
