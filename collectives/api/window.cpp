// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <utility>
#include <weft/api/gathered.hpp>
#include <weft/fabric/shared_sleep.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/window.hpp>
#include <weft/window/window_state.hpp>

namespace weft::detail {

window_base::window_base(communicator& of, const window_type& type, std::size_t count, std::size_t slots)
    : size_(of.size()), rank_(of.rank()), slots_(slots), own_(of.dup()) {
  gathered<window_part> parts;
  const auto or_give_up = [&](auto&& step) {
    try {
      step();
    } catch (...) {
      give_up();
      throw;
    }
  };
  or_give_up([&] {
    state_ = std::make_unique<window_state>(own_.state_, type, count, slots);
    own_.run(parts.gathering(state_->own(), state_->part()));
  });
  check_parts(state_->own(), parts.all());
  or_give_up([&] { state_->connect(parts.all()); });
  targets_ = state_->targets();
  local_ = state_->local();
}

window_base::window_base(window_base&& other) noexcept
    : targets_(std::exchange(other.targets_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      rank_(other.rank_),
      slots_(std::exchange(other.slots_, 0)),
      local_(std::exchange(other.local_, nullptr)),
      own_(std::move(other.own_)),
      state_(std::move(other.state_)) {}

window_base& window_base::operator=(window_base&& other) noexcept {
  std::swap(targets_, other.targets_);
  std::swap(size_, other.size_);
  std::swap(rank_, other.rank_);
  std::swap(slots_, other.slots_);
  std::swap(local_, other.local_);
  std::swap(own_, other.own_);
  std::swap(state_, other.state_);
  return *this;
}

window_base::~window_base() {
  if (state_ == nullptr) return;
  if (state_->unwinding()) {
    give_up();
    return;
  }
  try {
    const no_time_limit whole;
    fence();
    state_->stop();
  } catch (...) {
    give_up();
  }
}

/// Ends the window on all ranks, without them.
void window_base::give_up() noexcept {
  try {
    own_.abort();
  } catch (...) {  // no memory to tell the others, who learn of it where they wait
  }
  if (state_ != nullptr) state_->give_up();
}

void window_base::refuse_rank(const char* operation, int rank) const {
  throw error(errc::invalid_rank, where(state_->own(), operation) + ": there is no rank " + std::to_string(rank) +
                                      "; the window has ranks 0 to " + std::to_string(size_ - 1));
}

void window_base::refuse_place(const char* operation, int rank, std::size_t offset, std::size_t count) const {
  throw error(errc::invalid_count, where(state_->own(), operation) + ": " + std::to_string(count) +
                                       " elements at offset " + std::to_string(offset) + " of rank " +
                                       std::to_string(rank) + ", which has " + std::to_string(targets_[rank].count));
}

void window_base::refuse_slot(const char* operation, std::size_t slot) const {
  throw error(errc::invalid_argument, where(state_->own(), operation) + ": there is no slot " + std::to_string(slot) +
                                          "; the window has " + std::to_string(slots_));
}

void window_base::wake(window_slot& slot) noexcept { fabric::wake_all_on_shared(&slot.notified); }

void window_base::put_far(int rank, std::size_t offset, std::span<const std::byte> data) {
  state_->messages().put(rank, offset, data);
}

void window_base::get_far(int rank, std::size_t offset, std::span<std::byte> into) {
  state_->messages().get(rank, offset, into);
}

void window_base::accumulate_far(int rank, std::size_t offset, std::span<const std::byte> operands,
                                 window_operator by) {
  state_->messages().accumulate(rank, offset, operands, by);
}

void window_base::fetch_far(int rank, std::size_t offset, const std::byte* operand, window_operator by,
                            std::byte* before) {
  state_->messages().fetch(rank, offset, operand, by, before);
}

void window_base::compare_far(int rank, std::size_t offset, const std::byte* expected, const std::byte* desired,
                              std::byte* before) {
  state_->messages().compare(rank, offset, expected, desired, before);
}

void window_base::notify_far(int rank, std::size_t slot) { state_->messages().notify(rank, slot); }

void window_base::wait_notified(std::size_t slot, std::uint32_t count) {
  check_slot("wait_notified", slot);
  state_->wait_notified(slot, count);
}

void window_base::flush(int rank) {
  find("flush", rank);
  state_->flush(rank);
}

void window_base::flush_all() { state_->flush_all(); }

void window_base::fence() {
  flush_all();
  own_.barrier();
}

void window_base::lock(int rank, lock_mode mode) {
  find("lock", rank);
  state_->lock(rank, mode);
}

void window_base::unlock(int rank, lock_mode mode) {
  find("unlock", rank);
  state_->flush(rank);
  state_->give_back(rank, mode);
}

void window_base::lock_all() {
  int held = 0;
  try {
    for (; held < size_; ++held) state_->lock(held, lock_mode::shared);
  } catch (...) {
    const std::exception_ptr why = std::current_exception();
    try {
      give_back_below(held);
    } catch (...) {  // the window has failed, and its locks with it, or there is no memory
    }
    std::rethrow_exception(why);
  }
}

void window_base::unlock_all() {
  flush_all();
  give_back_below(size_);
}

/// All of them, whatever deadline there is: who calls cannot know of a part.
void window_base::give_back_below(int rank) {
  const no_time_limit whole;
  std::exception_ptr first;
  while (rank-- > 0) try {
      state_->give_back(rank, lock_mode::shared);
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace weft::detail
