// SPDX-License-Identifier: Apache-2.0
// How much memory weft takes in a process, and the most that it may: the option memory-limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace weft {

/// What memory is taken for says how much of the limit it must leave.
enum class memory_use : std::uint8_t {
  spare,    ///< what could be done without, as what is kept for later: a half
  call,     ///< what the program's calls need, and throw without: an eighth
  arrival,  ///< what others send, whose processes would be lost without it: nothing
};

/// Counts the bytes that are taken, which are never more than the limit from `begin_to_limit` on. Any thread.
class memory_budget {
 public:
  /// A limit of 0 is none.
  explicit memory_budget(std::size_t limit = 0) noexcept;
  memory_budget(const memory_budget&) = delete;
  memory_budget& operator=(const memory_budget&) = delete;

  std::size_t limit() const noexcept { return limit_; }  ///< SIZE_MAX: none
  /// What a process takes to start has been taken. Before any other thread takes some.
  void begin_to_limit() noexcept { limits_.store(true, std::memory_order_relaxed); }
  // relaxed, all: a count, by which no other memory is handed over.
  std::size_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
  std::size_t most_taken() const noexcept { return most_taken_.load(std::memory_order_relaxed); }
  /// Whether `spare` has none left, so that what could be done without is to go.
  bool is_scarce() const noexcept { return taken() >= most_for(memory_use::spare); }

  bool try_take(std::size_t bytes, memory_use use) noexcept;
  /// Throws errc::out_of_memory, which says what the bytes are for, and what is left of the limit.
  void take(std::size_t bytes, const char* what, memory_use use);
  void give_back(std::size_t bytes) noexcept { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::size_t most_for(memory_use use) const noexcept;
  void note_most(std::size_t now) noexcept;

  const std::size_t limit_;
  std::atomic<bool> limits_{false};
  std::atomic<std::size_t> taken_{0};
  std::atomic<std::size_t> most_taken_{0};
};

/// Bytes that are taken of a budget as long as this lives; of none where that is null.
class memory_charge {
 public:
  memory_charge() noexcept = default;
  explicit memory_charge(std::shared_ptr<memory_budget> of) noexcept : of_(std::move(of)) {}
  /// Throws as memory_budget::take.
  memory_charge(std::shared_ptr<memory_budget> of, std::size_t bytes, const char* what,
                memory_use use = memory_use::call)
      : of_(std::move(of)) {
    grow(bytes, what, use);
  }
  memory_charge(memory_charge&& other) noexcept : of_(std::move(other.of_)), bytes_(std::exchange(other.bytes_, 0)) {}
  memory_charge& operator=(memory_charge&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~memory_charge() {
    if (of_ != nullptr) of_->give_back(bytes_);
  }

  /// Nothing where there are not so many left.
  static std::optional<memory_charge> attempt(const std::shared_ptr<memory_budget>& of, std::size_t bytes,
                                              memory_use use) noexcept {
    if (of != nullptr && !of->try_take(bytes, use)) return std::nullopt;
    memory_charge taken(of);
    taken.bytes_ = bytes;
    return taken;
  }

  std::size_t bytes() const noexcept { return bytes_; }
  /// So many more. Throws as memory_budget::take.
  void grow(std::size_t bytes, const char* what, memory_use use = memory_use::call) {
    if (of_ != nullptr) of_->take(bytes, what, use);
    bytes_ += bytes;
  }
  /// The same where there are as many left: whether they are.
  bool try_grow(std::size_t bytes, memory_use use) noexcept {
    if (of_ != nullptr && !of_->try_take(bytes, use)) return false;
    bytes_ += bytes;
    return true;
  }
  void shrink(std::size_t bytes) noexcept {
    if (of_ != nullptr) of_->give_back(bytes);
    bytes_ -= bytes;
  }

 private:
  std::shared_ptr<memory_budget> of_;
  std::size_t bytes_ = 0;
};

}  // namespace weft
