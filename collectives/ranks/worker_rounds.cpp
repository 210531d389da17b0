#include <algorithm>
#include <weft/ranks/worker_rounds.hpp>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/scheduler.hpp>

namespace weft::detail {

bool worker_rounds::await(board& mine, const std::atomic<std::uint64_t>& stamp, std::uint64_t number,
                          std::uint64_t stays, std::span<const std::byte> value) {
  for (int turn = 0; turn < mine.spins; ++turn) {
    ask_for(value);
    // acquire: pairs with the release of whoever publishes.
    if (has_come(stamp.load(std::memory_order_acquire), number)) [[likely]] {
      // Next time a little more would be enough, too.
      if (turn > mine.spins / 2) mine.spins = std::min(2 * mine.spins, most_spins);
      return true;
    }
    // relaxed: see has_failed(); where it has, `leaves` is as it will ever be.
    if (turn == 0 && coroutine::leaves() && !leaves(state_.load(std::memory_order_relaxed), stays)) {
      wake(&mine);
      coroutine::leave();
      turn = -1;
      continue;
    }
    pause_core();
    if (turn % spins_between_turns == spins_between_turns - 1) scheduler::yield();
  }
  // Whoever waits for this worker may sleep: it will not come soon to the end of its round.
  wake(&mine);
  mine.spins = std::max(mine.spins / 2, least_spins);
  return sleep(mine, stamp, number, stays);
}

bool worker_rounds::sleep(board& mine, const std::atomic<std::uint64_t>& stamp, std::uint64_t number,
                          std::uint64_t stays) {
  while (true) {
    // seq_cst, and the looks behind it: pairs with the fence in wake(). Either that one finds this worker asleep, or
    // this one finds what came before the fence.
    mine.asleep.store(1, std::memory_order_seq_cst);
    const bool over = has_come(stamp.load(std::memory_order_seq_cst), number) ||
                      leaves(state_.load(std::memory_order_seq_cst), stays);
    if (!over) mine.bell.wait(by_);
    // acq_rel: one of this exchange and that in wake() finds 1. Where it is that one the bell is set, or is about to
    // be, and is reset behind that.
    if (mine.asleep.exchange(0, std::memory_order_acq_rel) == 0) {
      mine.bell.wait(by_);
      mine.bell.reset();
    }
    // acquire: as in await(). relaxed: likewise.
    if (has_come(stamp.load(std::memory_order_acquire), number)) return true;
    if (leaves(state_.load(std::memory_order_relaxed), stays)) return false;
  }
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
