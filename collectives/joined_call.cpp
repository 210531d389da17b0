#include "joined_call.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <weft/runtime/error.hpp>

#include "combine_inputs.hpp"
#include "leaders.hpp"
#include "prepared_calls.hpp"

namespace weft::detail {
namespace {

using job = meeting::job;

/// Vectors of at least so many bytes are combined and copied by all ranks of the process, where they have several
/// threads, in shares of at least so many bytes; shorter ones by the rank that comes last, at once.
constexpr std::size_t shared_bytes = 32 << 10;
constexpr std::size_t least_share = 8 << 10;

/// One rank's call.
class joined_call {
 public:
  joined_call(communicator_state& state, const request& call, const request_shape& shape)
      : state_(state),
        here_(*state.here),
        call_(call),
        count_(shape.vector),
        bytes_(shape.vector * call.element_bytes),
        mine_(here_.at(state.seat)) {}

  void run() {
    take_seat();
    bool last = false;
    std::optional<job> next = here_.arrive(state_.seat, last);
    if (last) next = say_next(job::combine, true);
    if (!next) fail(communicator_failure());
    while (*next != job::over) {
      do_share(*next);
      next = here_.is_last_done() ? say_next(*next, false) : here_.await_next(state_.seat);
    }
    if (mine_.failure != nullptr) fail(std::exchange(mine_.failure, nullptr));
  }

 private:
  void take_seat() {
    schedules::selected any;
    any.how = schedules::algorithms_of(call_.what).data();
    mine_.fingerprint = joined_fingerprint(planned_call(call_, any, call_.root, count_));
    mine_.sequence = state_.next_sequence();
    mine_.bytes = bytes_;
    mine_.custom = call_.custom;
    mine_.member = &state_.member;
    here_.inputs[state_.seat] = static_cast<const std::byte*>(call_.in);
    here_.outputs[state_.seat] = static_cast<std::byte*>(call_.out);
    state_.member.silent.enter(mine_.sequence, mine_.fingerprint);
  }

  [[noreturn]] void fail(const std::exception_ptr& failure) {
    rethrow(state_, schedules::call_name(call_.what), failure);
  }

  std::exception_ptr communicator_failure() {
    std::exception_ptr failure;
    state_.host.messages().while_held([&] { failure = state_.member.failure; });
    if (failure == nullptr) failure = std::make_exception_ptr(error(errc::revoked, "the communicator has failed"));
    return failure;
  }

  bool has_root() const { return schedules::is_rooted(call_.what); }
  bool root_is_here() const { return here_.between().process_of(call_.root) == here_.between().here(); }
  bool alone() const { return here_.between().size() == 1; }
  /// The seat whose buffer all here take the result from, or that has it alone.
  std::size_t owner() const { return has_root() && root_is_here() ? here_.seat_of(call_.root) : 0; }
  bool combines() const { return schedules::combines(call_.what) && bytes_ != 0; }
  bool copies() const {
    return here_.size() > 1 && bytes_ != 0 &&
           (call_.what == collective::broadcast || (call_.what == collective::allreduce && !alone()));
  }
  bool shares_work() const { return bytes_ >= shared_bytes && state_.host.workers() > 1; }

  /// Where the vectors of this process are combined; null where they need not be, because there is but one.
  std::byte* combined() const {
    if (here_.size() == 1 && !alone()) return nullptr;
    if (call_.what == collective::reduce && !root_is_here()) return here_.scratch(bytes_);
    return here_.outputs[owner()];
  }

  // By the last to arrive, or to be done, while all others wait: what they do next.
  job say_next(job done, bool arriving) noexcept {
    job next = job::over;
    try {
      next = arriving ? begin() : done == job::combine ? end_combining() : job::over;
    } catch (...) {
      end_all(break_communicator());
    }
    here_.say(state_.seat, next, arriving);
    return next;
  }

  job begin() {
    if (!agree()) return end_all(communicator_failure()), job::over;
    if (!combines()) return go_between();
    here_.target = combined();
    if (here_.target == nullptr) return go_between();
    if (shares_work()) return job::combine;
    combine(0, count_);
    return end_combining();
  }

  /// All here call the same.
  bool agree() {
    const meeting::seat& first = here_.at(0);
    for (std::size_t i = 1; i < here_.size(); ++i) {
      const meeting::seat& other = here_.at(i);
      const bool counts = other.bytes == first.bytes;
      if (other.sequence == first.sequence && other.fingerprint == first.fingerprint && counts) continue;
      const auto called = [&](std::size_t seat) {
        return "rank " + std::to_string(here_.rank_at(seat)) + " called " +
               describe_fingerprint(here_.at(seat).fingerprint);
      };
      const char* const how = other.fingerprint != first.fingerprint ? ""
                              : counts                               ? " after other calls"
                                                                     : " with other counts";
      state_.host.messages().break_communicator(
          state_.id(), errc::mismatched_call,
          called(0) + " where " + called(i) + how + " (communicator " + std::to_string(state_.id()) + ")");
      return false;
    }
    return true;
  }

  void end_all(const std::exception_ptr& failure) noexcept {
    for (std::size_t i = 0; i < here_.size(); ++i) {
      const std::exception_ptr thrown = std::exchange(here_.at(i).thrown, nullptr);
      here_.at(i).failure = thrown != nullptr ? thrown : failure;
    }
  }

  /// Something but the caller's operator failed: without this process's part the others' would wait for ever.
  std::exception_ptr break_communicator() noexcept {
    std::exception_ptr why = std::current_exception();
    try {
      state_.host.messages().break_communicator(
          state_.id(), errc::operation_failed,
          "a collective failed on rank " + std::to_string(state_.member.rank) + ": " + message_of(why));
      why = communicator_failure();
    } catch (...) {  // no memory to say it
    }
    return why;
  }

  void combine(std::size_t first, std::size_t count) noexcept {
    try {
      const bool to_all = alone() && call_.what == collective::allreduce;
      const array_operator by(call_);
      combine_inputs(by, here_.inputs, first, count, here_.target,
                     to_all ? std::span<std::byte* const>(here_.outputs) : std::span<std::byte* const>());
    } catch (...) {
      mine_.thrown = std::current_exception();
    }
  }

  void copy_result(std::size_t seat) noexcept {
    std::byte* const into = here_.outputs[seat];
    const std::byte* const from = here_.outputs[owner()];
    if (into != from) std::memcpy(into, from, bytes_);
  }

  void do_share(job what) noexcept {
    if (what == job::copy) return copy_result(state_.seat);
    const std::size_t ranks = here_.size(), shares = std::min(ranks, bytes_ / least_share);
    const std::size_t share = (state_.seat * shares + ranks - 1) / ranks;  // so that all threads have some
    if (share >= shares || share * ranks / shares != state_.seat) return;
    const std::size_t first = begin_of(share, shares), end = begin_of(share + 1, shares);
    if (first < end) combine(first, end - first);
  }

  /// Shares begin on cache lines, as far as the vector does.
  std::size_t begin_of(std::size_t share, std::size_t shares) const {
    if (share == shares) return count_;
    const std::size_t line = std::max(64 / call_.element_bytes, std::size_t{1});
    return count_ / shares * share / line * line;
  }

  job end_combining() {
    std::shared_ptr<const fabric::poison> poisoned;
    for (std::size_t i = 0; i < here_.size() && poisoned == nullptr; ++i)
      if (const auto& thrown = here_.at(i).thrown)
        poisoned = std::make_shared<const fabric::poison>(fabric::poison{here_.rank_at(i), message_of(thrown)});
    if (!alone()) return go_between(std::move(poisoned));
    if (poisoned != nullptr) end_poisoned({nullptr, std::move(poisoned)});
    return job::over;
  }

  /// The other processes' part, and what is left to be done here behind it.
  job go_between(std::shared_ptr<const fabric::poison> poisoned = nullptr) {
    if (!alone()) {
      const leader_result result =
          here_.between().run(call_between(std::move(poisoned)), *here_.at(0).member, state_.selection);
      if (result.poisoned != nullptr) return end_poisoned(result), job::over;
      if (result.failure != nullptr) return end_all(result.failure), job::over;
    }
    if (!copies()) return job::over;
    if (shares_work()) return job::copy;
    for (std::size_t i = 0; i < here_.size(); ++i) copy_result(i);
    return job::over;
  }

  leader_call call_between(std::shared_ptr<const fabric::poison> poisoned) {
    leader_call call;
    call.of = &call_;
    call.count = count_;
    if (has_root()) call.root = here_.between().process_of(call_.root);
    call.sequence = mine_.sequence;
    call.fingerprint = mine_.fingerprint;
    call.custom = here_.at(0).custom;
    call.poisoned = std::move(poisoned);
    call.out = here_.outputs[owner()];
    call.in = combines() && here_.target != nullptr ? here_.target : here_.inputs[owner()];
    return call;
  }

  /// Ends the call on those that depend on what an operator was to make, and where one threw.
  void end_poisoned(const leader_result& result) {
    const auto told = std::make_exception_ptr(
        error(errc::operation_failed, "the operator of rank " + std::to_string(result.poisoned->origin) + " threw" +
                                          (result.poisoned->why.empty() ? "" : ": " + result.poisoned->why)));
    for (std::size_t i = 0; i < here_.size(); ++i) {
      meeting::seat& each = here_.at(i);
      const bool depends = call_.what == collective::allreduce || here_.rank_at(i) == call_.root;
      each.failure = depends ? told : nullptr;
      if (each.thrown != nullptr)
        each.failure = std::exchange(each.thrown, nullptr);
      else if (i == 0 && result.failure != nullptr && result.poisoned->origin == here_.rank_at(0))
        each.failure = result.failure;
    }
  }

  communicator_state& state_;
  meeting& here_;
  const request& call_;
  const std::size_t count_;  ///< elements of the vector
  const std::size_t bytes_;
  meeting::seat& mine_;
};

}  // namespace

bool joins(const communicator_state& state, const request& call) {
  const bool named = state.selection.wanted[static_cast<std::size_t>(call.what)] != nullptr;
  if (!state.here->joins() || named) return false;
  switch (call.what) {
    case collective::barrier:
    case collective::broadcast:
      return true;
    case collective::reduce:
    case collective::allreduce:
      return state.here->in_rows() || custom_of(call.custom) != custom_operator::keeps_order;
    default:
      return false;
  }
}

void run_joined(communicator_state& state, const request& call, const request_shape& shape) {
  joined_call(state, call, shape).run();
}

}  // namespace weft::detail
