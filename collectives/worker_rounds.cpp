#include "worker_rounds.hpp"

#include <algorithm>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/scheduler.hpp>

namespace weft::detail {

bool worker_rounds::await(board& mine, const std::atomic<std::uint64_t>& word, std::uint32_t number, bool may_leave,
                          std::span<const std::byte> value) {
  for (int turn = 0; turn < mine.spins; ++turn) {
    for (std::size_t i = 0; i < value.size(); i += cache_line) __builtin_prefetch(value.data() + i);
    // acquire: pairs with the release of whoever shows a stamp or a step.
    if (number_of(word.load(std::memory_order_acquire)) == number) [[likely]] {
      // Next time a little more would be enough, too.
      if (turn > mine.spins / 2) mine.spins = std::min(2 * mine.spins, most_spins);
      return true;
    }
    pause_core();
    if (turn % spins_between_turns == spins_between_turns - 1) scheduler::yield();
  }
  // Whoever waits for this worker may sleep: it will not come soon to the end of its round.
  wake(&mine);
  mine.spins = std::max(mine.spins / 2, least_spins);
  return sleep(mine, word, number, may_leave);
}

bool worker_rounds::sleep(board& mine, const std::atomic<std::uint64_t>& word, std::uint32_t number, bool may_leave) {
  while (true) {
    // seq_cst, and the looks behind it: pairs with the fence in wake(). Either that one finds this worker asleep, or
    // this one finds what came before the fence.
    mine.asleep.store(1, std::memory_order_seq_cst);
    const bool over = number_of(word.load(std::memory_order_seq_cst)) == number ||
                      (may_leave && (state_.load(std::memory_order_seq_cst) & failed) != 0);
    if (!over) mine.bell.wait(by_);
    // acq_rel: one of this exchange and that in wake() finds 1. Where it is that one the bell is set, or is about to
    // be, and is reset behind that.
    if (mine.asleep.exchange(0, std::memory_order_acq_rel) == 0) {
      mine.bell.wait(by_);
      mine.bell.reset();
    }
    // acquire: as in await().
    if (number_of(word.load(std::memory_order_acquire)) == number) return true;
    if (may_leave && has_failed()) return false;
  }
}

void worker_rounds::wake(const board* but) noexcept {
  // seq_cst: between what was shown before and the looks; see sleep().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (board& each : boards_) {
    if (&each == but) continue;
    // relaxed: the exchange decides. acq_rel: see sleep().
    if (each.asleep.load(std::memory_order_relaxed) == 0) continue;
    if (each.asleep.exchange(0, std::memory_order_acq_rel) == 1) each.bell.set();
  }
}

void worker_rounds::fail() noexcept {
  // seq_cst: it is shown before the fence in wake(), for who is about to sleep. It is in one order with the exchange in
  // hold(): one of the two comes first, and who sees `failed` then knows whether that one did.
  state_.fetch_or(failed, std::memory_order_seq_cst);
  wake(nullptr);
}

bool worker_rounds::round::hold() noexcept {
  std::uint32_t free = 0;
  // acq_rel: see fail(). What the others did before they published has been acquired in await().
  return all_.state_.compare_exchange_strong(free, held, std::memory_order_acq_rel, std::memory_order_relaxed);
}

void worker_rounds::round::let_go() noexcept {
  // release: who finds `failed` alone may leave at once, and then uses what was used for him until here.
  all_.state_.fetch_and(~held, std::memory_order_release);
}

void worker_rounds::round::show_step(std::uint32_t what) noexcept {
  // release: pairs with the acquire in await(), for what this worker wrote.
  mine_.step.store(std::uint64_t{mine_.steps} << 32 | what, std::memory_order_release);
}

void worker_rounds::round::say(std::uint32_t what) noexcept {
  ++mine_.steps;
  show_step(what);
  all_.wake(&mine_);
}

void worker_rounds::round::await_all_done() {
  for (board& each : all_.boards_)
    if (&each != &mine_) all_.await(mine_, each.step, mine_.steps, false);
}

worker_rounds::round::word worker_rounds::round::await_word(std::size_t conductor) {
  const std::atomic<std::uint64_t>& said = all_.boards_[conductor].step;
  ++mine_.steps;
  all_.wake(&mine_);  // it may sleep until this worker has published
  if (!all_.await(mine_, said, mine_.steps, true)) {
    // `failed` has been seen in it: where it was held before, that is seen too, unless it has been let go again, and
    // else it never will be. acquire: pairs with the release in let_go().
    if ((all_.state_.load(std::memory_order_acquire) & held) == 0) return {found::failed, 0};
    all_.await(mine_, said, mine_.steps, false);
  }
  // acquire: as in await().
  return {found::here, static_cast<std::uint32_t>(said.load(std::memory_order_acquire))};
}

void worker_rounds::round::done() noexcept {
  show_step(0);
  all_.wake(&mine_);
}

}  // namespace weft::detail
