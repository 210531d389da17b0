// SPDX-License-Identifier: Apache-2.0
// One rank of one communicator.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>
#include <weft/calls/calls_at_rest.hpp>
#include <weft/choice/arrival_watch.hpp>
#include <weft/choice/candidate_trial.hpp>
#include <weft/executor/plan_cache.hpp>
#include <weft/process/choosing.hpp>
#include <weft/process/process.hpp>
#include <weft/ranks/process_team.hpp>
#include <weft/request/known_call.hpp>

namespace weft {
class communicator;
}

namespace weft::detail {

class started_calls;

class agreed_times;

/// A shape of calls by messages that are tried.
struct tried_by_messages : tried<schedules::selected> {
  using tried::tried;

  std::shared_ptr<agreed_times> agreed;  ///< while the ranks agree on what was the fastest
};

/// A shape of calls by messages that go by when their ranks come.
struct watched_calls {
  /// What the next call takes.
  const schedules::selected& now() const noexcept { return by_arrival.arrivals.empty() ? at_once : by_arrival; }

  arrival_watch watch;
  schedules::selected at_once, by_arrival;  ///< where nobody is late, and where somebody is
  double late = 0;                          ///< seconds
};

/// Whether a rank is making a call of which it makes one at a time.
class sole_call {
 public:
  /// While one lives, `operation` is being made. Throws errc::invalid_argument, beginning with `where`, where another
  /// one is.
  class making;

  /// Its name; null: none is. Any thread.
  const char* operation() const noexcept { return operation_.load(std::memory_order_relaxed); }  // relaxed: a constant

 private:
  std::atomic<const char*> operation_{nullptr};  ///< null: none
};

/// The order in which the calls of one rank that go through memory take place: that in which it makes them. Those that
/// it has started go on later, on whichever thread.
class call_turns {
 public:
  call_turns(started_calls& calls, const fabric::participant& of, progress& by) noexcept
      : calls_(calls), of_(of), by_(by) {}

  /// By the rank, for a call that it starts.
  std::uint32_t take() noexcept {
    const std::uint32_t turn = next_.load(std::memory_order_relaxed);  // relaxed: only the rank writes it
    next_.store(turn + 1, std::memory_order_relaxed);
    return turn;
  }
  /// Calls that have been started, and those of them that are not over. Any thread.
  std::uint32_t taken() const noexcept { return next_.load(std::memory_order_relaxed); }
  std::uint32_t open() const noexcept {
    const std::uint32_t over = over_.load(std::memory_order_acquire);  // acquire: what is over has been taken
    return taken() - over;
  }
  /// Whether the calls before that one are over.
  bool has_come(std::uint32_t turn) const noexcept {
    // acquire: pairs with the release of pass(), for what the calls before have left in the communicator's memory.
    return over_.load(std::memory_order_acquire) == turn;
  }
  /// The same, once what can end of them has been gone on with. By the rank, for a call that it starts.
  bool try_come(std::uint32_t turn) const { return has_come(turn) || help_to_come(turn); }
  /// Blocks until they are.
  void await(std::uint32_t turn) const {
    if (!has_come(turn)) [[unlikely]]
      wait_for(turn);
  }
  /// The same for all that have been started: by the rank, for a call that blocks.
  void await_all() const { await(taken()); }
  /// It is over.
  void pass(std::uint32_t turn) noexcept {
    over_.store(turn + 1, std::memory_order_release);  // release: see has_come()
  }

 private:
  void wait_for(std::uint32_t turn) const;
  bool help_to_come(std::uint32_t turn) const;

  started_calls& calls_;
  const fabric::participant& of_;
  progress& by_;
  std::atomic<std::uint32_t> next_{0};  // the rank writes it
  std::atomic<std::uint32_t> over_{0};
};

/// What all communicators of one rank of this process share. Used by that rank alone, but for `communicators`, which
/// the messenger's token guards.
struct rank_identity {
  rank_identity(int rank, std::shared_ptr<meetings> met, bool spare = false) noexcept
      : job_rank(rank), is_spare(spare), meets_at(std::move(met)) {}

  const int job_rank;  ///< of all ranks of the job
  const bool is_spare;
  const std::shared_ptr<meetings> meets_at;  ///< of all ranks of the process, by communicator
  sole_call dividing;                        ///< a communicator
  std::uint64_t next_communicator = 1;       ///< for the id of the next communicator that this rank leads
  std::vector<std::uint64_t> communicators;  ///< ids of those that it is in
  communicator* everyone = nullptr;  ///< where there are spares: all ranks of the job; null once its program has ended
};

/// An agreement of the living that this rank takes part in.
struct awaited_agreement final : fabric::agreement_call {
  void finished() noexcept override { done.set(); }
  event done;
  std::byte call{};   ///< which it is, as in its first byte
  bool open = false;  ///< begun, and its answer not taken
};

struct communicator_state {
  communicator_state(process& host, std::shared_ptr<rank_identity> self, std::shared_ptr<const fabric::group> members,
                     int rank);
  /// The same rank of the same communicator where it meets the others elsewhere: in calls of a plan, which are in no
  /// order with others.
  communicator_state(communicator_state& of, std::shared_ptr<meeting> elsewhere);
  ~communicator_state();
  communicator_state(const communicator_state&) = delete;
  communicator_state& operator=(const communicator_state&) = delete;

  int size() const noexcept { return member.members->size(); }
  std::uint64_t id() const noexcept { return member.members->communicator; }
  /// Whether it has this board of this process.
  bool uses(fabric::board_ticket board) const noexcept;
  /// Its ranks, those that are near each other together.
  const rank_groups& groups() { return here->groups(); }

  process& host;
  std::shared_ptr<rank_identity> self;
  std::shared_ptr<meeting> here;  ///< with the other ranks of this process
  std::size_t seat = 0;           ///< this rank's there

 private:
  const memory_charge objects_;
  std::unique_ptr<fabric::participant> joined_;

 public:
  fabric::participant& member;
  /// In the checked mode, from the first call on: the call by which the rank announces its others (agreement.hpp),
  std::unique_ptr<known_call> announcing;
  std::shared_ptr<const bound_schedule> announces_by;  ///< and its plan, where that goes by messages, else null
  plan_cache plans;
  call_counts counts;                         ///< of its calls
  known_calls known;                          ///< the latest that blocked
  schedules::selection_parameters selection;  ///< the job's, unless a tool asks for another algorithm
  choices_made choices;
  const bool tries;    ///< those that are made often by messages try what is near the choice
  const bool watches;  ///< those by an algorithm that goes by when ranks come
  bool freed = false;  ///< the caller has no communicator for it any more
  std::uint32_t next_agreement = 0;
  std::unordered_map<choice_request, tried_by_messages, choice_hash> tried;
  std::unordered_map<choice_request, watched_calls, choice_hash> watched;
  std::vector<std::shared_ptr<agreed_times>> looks_away;  ///< of calls that were started
  const schedules::algorithm* goes_by = nullptr;  ///< the latest call by messages that was not noted; null: not known
  /// The number of the next call that all ranks make in the same order: a collective, or making a plan.
  std::uint32_t next_sequence() noexcept {
    const std::uint32_t next = sequence();
    sequence_.store(next + 1, std::memory_order_relaxed);  // relaxed: only the rank writes it
    return next & last_sequence;
  }
  /// How many it has begun. Any thread.
  std::uint32_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }  // relaxed: for people
  std::optional<process_team> among_ranks;  ///< its calls with the other ranks of this process, where they join
  call_turns turns{host.calls(), member, host.moved_by()};
  /// Of a grid: the same rank of the communicator for messages between neighbours, and the other way around. Both are
  /// broken together.
  std::weak_ptr<communicator_state> beside;
  trace::recorder* const records = host.records();
  sole_call collecting;         ///< a collective, or making a plan
  sole_call agreeing;           ///< with the living
  awaited_agreement agreement;  ///< the latest

 private:
  class listing;

  void forget();

  std::atomic<std::uint32_t> sequence_{0};
  std::unique_ptr<listing> listed_;  ///< in the roll

 public:
  calls_at_rest at_rest;  ///< started calls that are over; last, since they end while the other members are there
};

/// Breaks it, and what is beside it, on all ranks: their calls throw errc::revoked, for that reason.
void break_with_beside(communicator_state& state, const std::string& why);

/// "allreduce on rank 2 of communicator 0"
std::string where(const communicator_state& state, const char* operation);

class sole_call::making {
 public:
  making(sole_call& of, const communicator_state& state, const char* operation) : of_(of) {
    const char* other = nullptr;
    // acquire: pairs with the release of the one before. Where there is another one only its name is read, a constant.
    if (!of.operation_.compare_exchange_strong(other, operation, std::memory_order_acquire, std::memory_order_relaxed))
        [[unlikely]]
      refuse(state, operation, other);
  }
  making(const making&) = delete;
  making& operator=(const making&) = delete;
  // release: pairs with the acquire of the next one's constructor, so that it sees all that was done here.
  ~making() { of_.operation_.store(nullptr, std::memory_order_release); }

 private:
  [[noreturn]] static void refuse(const communicator_state& state, const char* operation, const char* other);

  sole_call& of_;
};

/// The ranks of a communicator that this process knows to be lost, in ascending order.
std::vector<int> lost_ranks(process& host, const fabric::group& of);

/// Throws what an operation failed with, where that is a loss with all that are known; its message behind "OPERATION on
/// rank R of communicator C: ".
[[noreturn]] void rethrow(const communicator_state& state, const char* operation, const std::exception_ptr& failure);

}  // namespace weft::detail
