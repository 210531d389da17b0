// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <weft/ranks/worker_rounds.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/wait_for.hpp>

namespace weft::detail {

/// A stamp of that round, or a later one, for weft/runtime/wait_for.hpp. `value` comes to this core with it; who has
/// published in round `stays` leaves only where that is not held.
class worker_rounds::awaited_round {
 public:
  awaited_round(worker_rounds& all, board& mine, const board& its, std::uint64_t number, std::uint64_t stays,
                std::span<const std::byte> value) noexcept
      : all_(all),
        mine_(mine),
        its_(its),
        stamp_(its.lines[number % depth].stamp),
        number_(number),
        stays_(stays),
        value_(value) {}

  bool has_come() const noexcept {
    ask_for(value_);
    // acquire: pairs with the release of whoever publishes.
    return worker_rounds::has_come(stamp_.load(std::memory_order_acquire), number_);
  }
  bool is_given_up() const noexcept {
    // relaxed: see has_failed(); where it has, `leaves` is as it will ever be.
    if (leaves(all_.state_.load(std::memory_order_relaxed), stays_)) return true;
    // acquire: pairs with leave(), behind all that the worker has published; so the stamp is looked at behind it.
    return its_.left.load(std::memory_order_acquire) && !has_come();
  }
  int looks() const noexcept { return mine_.spins; }
  void came_after(int looks) const noexcept {
    // Next time a little more would be enough, too.
    if (looks > mine_.spins / 2) mine_.spins = std::min(2 * mine_.spins, most_spins);
  }
  // Whoever waits for this worker may sleep: it will not come soon to the end of its round.
  void before_pauses() noexcept {
    if (!std::exchange(has_woken_, true)) all_.wake(&mine_);
  }
  void pause() {
    has_paused_ = true;
    // seq_cst, and the looks behind it: pairs with the fence in wake(). Either that one finds this worker asleep, or
    // this one finds what came before the fence.
    mine_.asleep.store(1, std::memory_order_seq_cst);
    const bool over = worker_rounds::has_come(stamp_.load(std::memory_order_seq_cst), number_) ||
                      leaves(all_.state_.load(std::memory_order_seq_cst), stays_) ||
                      its_.left.load(std::memory_order_seq_cst);
    if (!over) mine_.bell.wait(all_.by_);
    // acq_rel: one of this exchange and that in wake() finds 1. Where it is that one the bell is set, or is about to
    // be, and is reset behind that.
    if (mine_.asleep.exchange(0, std::memory_order_acq_rel) == 1) return;
    mine_.bell.wait(all_.by_);
    mine_.bell.reset();
  }
  bool has_paused() const noexcept { return has_paused_; }
  /// It is over: records it, where it has paused.
  void note() const noexcept {
    if (has_paused_) trace::note_wait(since_, all_.name_of(its_));
  }
  void came_back() noexcept { since_ = trace::begin_wait(); }  // perhaps on another thread

 private:
  worker_rounds& all_;
  board& mine_;
  const board& its_;
  const std::atomic<std::uint64_t>& stamp_;
  const std::uint64_t number_, stays_;
  const std::span<const std::byte> value_;
  ticks since_ = trace::begin_wait();  // 0: it is not recorded
  bool has_paused_ = false, has_woken_ = false;
};

bool worker_rounds::await(board& mine, const board& its, std::uint64_t number, std::uint64_t stays,
                          std::span<const std::byte> value) {
  awaited_round it(*this, mine, its, number, stays, value);
  const bool came = wait_for(it);
  it.note();
  if (it.has_paused()) mine.spins = std::max(mine.spins / 2, least_spins);
  return came;
}

void worker_rounds::leave(std::size_t worker) noexcept {
  // seq_cst: it is shown before the fence in wake(), for who is about to sleep.
  boards_[worker].left.store(true, std::memory_order_seq_cst);
  wake(nullptr);
}

void worker_rounds::fail() noexcept {
  // seq_cst: it is shown before the fence in wake(), for who is about to sleep. In the order of all changes of `state_`
  // either this comes first, and no round is held any more, or a hold, which who finds `failed` finds, too.
  state_.fetch_or(failed, std::memory_order_seq_cst);
  wake(nullptr);
}

bool worker_rounds::round::hold() noexcept {
  // relaxed: the exchange decides, and what the others did before they published has been acquired in await(). Who
  // finds this round not held, and leaves, has ordered itself behind all who used what it showed in rounds before.
  std::uint64_t state = all_.state_.load(std::memory_order_relaxed);
  do {
    if (state >> 1 == number_) return true;
    if ((state & failed) != 0) return false;
  } while (!all_.state_.compare_exchange_weak(state, number_ << 1, std::memory_order_relaxed));
  return true;
}

}  // namespace weft::detail
