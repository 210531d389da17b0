// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/fabric/shared_sleep.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/wait_for.hpp>

namespace weft::fabric {
namespace {

/// Looks at a stamp before the core is given to others. Each takes about 20 ns: at most as long as it takes to be given
/// back a core that others share. At least a few, in which who is nearly here comes: with 4 processes on 2 cores a
/// barrier takes 3.1 us with one, 3.3 with 4 and 3.5 with 8, but all-reduces in a loop 2.9, 2.8 and 2.8.
constexpr int most_spins = 1024;
constexpr int least_spins = 4;

/// Where spinning has been in vain again and again, so many waits in a row yield at once before one spins a little more
/// to see whether that has changed. With 4 processes on 2 cores an all-reduce of 8 B takes 7.2 us where each of them
/// spins a little more, and 4.9 where none does; with 8 processes 16.5 and 9.
constexpr unsigned waits_between_trials = 32;

/// Of as many looks in vain as a microsecond takes it is recorded that somebody waits.
constexpr int recorded_looks = 48;

/// So many pauses between two polls of the network, each of which takes as long as several of them.
constexpr unsigned pauses_between_polls = 32;

/// The half of a stamp that changes with every round: a futex.
const void* round_word(const std::atomic<std::uint64_t>& stamp) noexcept {
  return reinterpret_cast<const std::byte*>(&stamp) + (std::endian::native == std::endian::little ? 4 : 0);
}

}  // namespace

/// A stamp of this round, or a later one, for weft/runtime/wait_for.hpp. `value` comes to this core with it.
class arena_rounds::awaited_round {
 public:
  awaited_round(arena_rounds& of, std::size_t member, std::uint32_t round, int looks,
                std::span<const std::byte> value) noexcept
      : of_(of),
        member_(member),
        its_(of.boards_[member]->lines[round % arena_depth].stamp),
        round_(round),
        looks_(looks),
        value_(value),
        pause_(of.by_),
        since_(of.marks_ != nullptr ? of.marks_->waits : trace::begin_wait()) {
    spins_ = of.spins_ > least_spins || (of.vain_waits_ + 1) % waits_between_trials == 0;
    if (!spins_) pause_.skip_spins();
  }

  bool has_come() const noexcept {
    ask_for(value_);
    // acquire: pairs with publish(), for what comes after this wait.
    return static_cast<std::int32_t>(round_of(its_.load(std::memory_order_acquire)) - round_) >= 0;
  }
  bool is_given_up() const noexcept {
    if (of_.failed_.load(std::memory_order_relaxed)) return true;  // relaxed: as in begin_in()
    // Looked at before the stamp: what it published before it left is there then.
    if (!of_.boards_[member_]->is_left() || has_come()) return false;
    of_.missed_ = member_;
    return true;
  }
  int looks() const noexcept { return looks_; }
  /// Between two looks. Reading the clock takes as long as a pause does.
  void rest_core() const noexcept {
    if (of_.marks_ != nullptr) [[unlikely]]
      of_.marks_->latest = ticks_now();
    else
      pause_core();
  }
  void came_after(int looks) noexcept { looked_ = looks; }
  // Whoever waits for this process may sleep; it will not come to that at the end.
  void before_pauses() noexcept { of_.wake_sleepers(); }
  void pause() {
    is_long_ = true;
    if (++pauses_ % pauses_between_polls == 0 && of_.by_.help()) return pause_.reset();
    pause_.pause([this](auto longest, progress* rung_by) {
      if (of_.by_.help())
        pause_.reset();
      else
        sleep(longest, rung_by);
    });
    scheduler::yield();
  }

  /// It is over: records it, where it is worth while.
  void note() const noexcept {
    if (since_ == 0 || (!is_long_ && looked_ <= recorded_looks)) return;
    const ticks now = trace::note_wait(since_, of_.name_of(member_));
    if (of_.marks_ == nullptr) return;
    of_.marks_->waits = now;
    of_.marks_->latest = 0;
  }
  void came_back() noexcept {
    since_ = trace::begin_wait();  // perhaps on another thread
    is_long_ = false;
  }
  /// Whether looks alone were in vain, and whether it gave its core to others behind them.
  bool has_paused() const noexcept { return pauses_ != 0; }
  bool was_short() const noexcept { return spins_ && pauses_ <= static_cast<unsigned>(backoff::spins); }

 private:
  void sleep(std::chrono::nanoseconds longest, progress* rung_by) {
    std::atomic<std::uint32_t>& asleep = of_.mine_.asleep;
    // seq_cst, and the look behind it: pairs with the fence in wake_sleepers(). Either that one finds this thread
    // asleep, or this one finds the round published.
    asleep.store(1, std::memory_order_seq_cst);
    const std::uint32_t seen = round_of(its_.load(std::memory_order_seq_cst));
    if (static_cast<std::int32_t>(seen - round_) < 0) sleep_on_shared(round_word(its_), seen, longest, rung_by);
    asleep.store(0, std::memory_order_relaxed);  // relaxed: one wake too many does no harm
  }

  arena_rounds& of_;
  const std::size_t member_;
  const std::atomic<std::uint64_t>& its_;
  const std::uint32_t round_;
  const int looks_;
  const std::span<const std::byte> value_;
  bool is_long_ = false;
  int looked_ = 0;
  unsigned pauses_ = 0;
  rest pause_;
  ticks since_;  // 0: it is not recorded
  bool spins_;
};

arena_rounds::arena_rounds(std::vector<arena_board*> boards, std::size_t self, progress& by,
                           const std::atomic<bool>& failed)
    : boards_(std::move(boards)),
      size_(boards_.size()),
      self_(self),
      mine_(*boards_[self]),
      by_(by),
      failed_(failed),
      spins_(most_spins) {}

arena_rounds::found arena_rounds::wait_for_stamp(std::size_t member, std::span<const std::byte> value) {
  awaited_round it(*this, member, order_.number(), spins_, value);
  const bool came = wait_for(it);
  it.note();
  if (!came) return found::failed;
  if (it.has_paused()) {
    // Looking was in vain, or a little more of it would have been enough.
    if (spins_ == least_spins) ++vain_waits_;
    spins_ = it.was_short() ? std::min(2 * spins_, most_spins) : std::max(spins_ / 2, least_spins);
  }
  const std::atomic<std::uint64_t>& its = boards_[member]->lines[place_].stamp;
  return its.load(std::memory_order_acquire) == stamp_ ? found::here : found::differs;  // as in await()
}

bool arena_rounds::all_are_in(std::uint32_t round) const noexcept {
  return std::ranges::all_of(boards_, [&](const arena_board* each) {
    if (each == &mine_) return true;
    // acquire: pairs with publish(), which comes behind all that its process has read in the rounds before.
    const auto now = round_of(each->lines[round % arena_depth].stamp.load(std::memory_order_acquire));
    return static_cast<std::int32_t>(now - round) >= 0;
  });
}

bool arena_rounds::settle_at_once() noexcept {
  // Most often all are near, and then the next rounds need no look.
  for (const std::uint32_t round : {order_.number() - 1, order_.needed()}) {
    if (!all_are_in(round)) continue;
    order_.settle(round);
    return true;
  }
  return false;
}

bool arena_rounds::settle() {
  if (settle_at_once()) return true;
  if (marks_ != nullptr) marks_->begin();
  const std::uint32_t needed = order_.needed();
  for (std::size_t i = 0; i < boards_.size(); ++i) {
    if (i == self_) continue;
    awaited_round it(*this, i, needed, 0, {});
    const bool came = wait_for(it);
    it.note();
    if (!came) return false;
  }
  order_.settle(needed);
  return true;
}

bool arena_rounds::all_stay() const noexcept {
  // relaxed: the fence in wake_sleepers(), behind this process's stamp, pairs with that in withdraw(). Either this one
  // finds the other withdrawn, or the other finds the stamp.
  return std::ranges::none_of(
      boards_, [](const arena_board* each) { return each->withdrawn.load(std::memory_order_relaxed) != 0; });
}

bool arena_rounds::stays(std::size_t member) const noexcept {
  // acquire: pairs with the fence in withdraw(), by what has been read before.
  std::atomic_thread_fence(std::memory_order_acquire);
  return boards_[member]->withdrawn.load(std::memory_order_relaxed) == 0;
}

void arena_rounds::withdraw() noexcept {
  // release: pairs with the acquire in is_using(), for what this process has done to the others' memory.
  mine_.withdrawn.store(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see all_stay(), and stays()
}

bool arena_rounds::is_using(std::size_t member, std::uint32_t telling) const noexcept {
  const arena_board& its = *boards_[member];
  const auto has_published = [&](std::uint32_t round) {
    // acquire: pairs with publish(), behind all that its process has done to the others' memory before.
    const auto now = round_of(its.lines[round % arena_depth].stamp.load(std::memory_order_acquire));
    return static_cast<std::int32_t>(now - round) >= 0;
  };
  return has_published(telling) && !has_published(telling + 1) && its.withdrawn.load(std::memory_order_acquire) == 0;
}

arena_rounds::difference arena_rounds::difference_to(std::size_t member) const noexcept {
  difference found;
  for (std::uint32_t back = arena_depth; back-- > 0;) {
    const std::uint32_t round = order_.number() - back;
    const arena_call& mine = mine_.calls[round % arena_depth];
    const arena_call& theirs = boards_[member]->calls[round % arena_depth];
    // relaxed: see begin().
    if (mine.round.load(std::memory_order_relaxed) != round || theirs.round.load(std::memory_order_relaxed) != round)
      continue;
    found = {mine.fingerprint.load(std::memory_order_relaxed), theirs.fingerprint.load(std::memory_order_relaxed)};
    const bool same = mine.sequence.load(std::memory_order_relaxed) == theirs.sequence.load(std::memory_order_relaxed);
    if (found.mine != found.theirs || !same) break;
  }
  return found;
}

std::vector<std::size_t> arena_rounds::behind() const {
  const auto latest = [](const arena_board& board) {
    std::uint32_t round = 0;
    for (const arena_line& each : board.lines) {
      const std::uint32_t its = round_of(each.stamp.load(std::memory_order_relaxed));  // relaxed: nothing else is read
      if (static_cast<std::int32_t>(its - round) > 0) round = its;
    }
    return round;
  };
  std::vector<std::size_t> found;
  const std::uint32_t mine = latest(mine_);
  for (std::size_t i = 0; i < size_; ++i)
    if (static_cast<std::int32_t>(latest(*boards_[i]) - mine) < 0) found.push_back(i);
  return found;
}

void arena_rounds::wake_all() noexcept { wake_all_on_shared(round_word(mine_.lines[place_].stamp)); }

}  // namespace weft::fabric
