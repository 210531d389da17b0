#include "joined_call.hpp"

#include <string>
#include <utility>
#include <weft/runtime/error.hpp>

#include "agreement.hpp"
#include "joined_alltoall.hpp"
#include "joined_blocks.hpp"
#include "joined_scan.hpp"
#include "joined_vector.hpp"
#include "prepared_calls.hpp"

namespace weft::detail {
namespace {

using job = meeting::job;

/// So many bytes are joined and taken by all ranks of the process, where they have several threads; fewer by the rank
/// that comes last, at once.
constexpr std::size_t shared_bytes = 32 << 10;

/// The call as ranks must agree on it, by whatever algorithm.
collective_call agreed_call(const request& call, const request_shape& shape) {
  schedules::selected any;
  any.how = schedules::algorithms_of(call.what).data();
  collective_call all =
      planned_call(call, any, call.root, schedules::has_blocks(call.what) ? shape.block : shape.vector);
  if (call.uneven) set_counts(all, call, counts_of(call));
  return all;
}

/// One rank's call.
class joined_call {
 public:
  joined_call(communicator_state& state, const request& call, joined_work& work)
      : state_(state), here_(*state.here), call_(call), work_(work), mine_(here_.at(state.seat)) {}

  void run(const request_shape& shape) {
    take_seat(shape);
    bool last = false;
    std::optional<job> next = here_.arrive(state_.seat, last);
    if (last) next = say_next(job::join, true);
    if (!next) fail(communicator_failure());
    while (*next != job::over) {
      do_part(*next);
      next = here_.is_last_done() ? say_next(*next, false) : here_.await_next(state_.seat);
    }
    if (call_.common_output != nullptr) *call_.common_output = std::move(mine_.common);
    if (mine_.failure != nullptr) fail(std::exchange(mine_.failure, nullptr));
  }

 private:
  void take_seat(const request_shape& shape) {
    const collective_call called = agreed_call(call_, shape);
    mine_.terms = terms_of(called);
    mine_.terms.fingerprint = joined_fingerprint(called);
    mine_.sequence = state_.next_sequence();
    if (state_.host.settings().check) {
      auto announced = announcement::of(called, false, state_.member.rank, state_.size());
      announced.terms = mine_.terms;
      agreement(state_, announced, mine_.sequence).await(schedules::call_name(call_.what));
    }
    mine_.custom = call_.custom;
    mine_.member = &state_.member;
    here_.inputs[state_.seat] = static_cast<const std::byte*>(call_.in);
    here_.outputs[state_.seat] = static_cast<std::byte*>(call_.out);
    state_.member.silent.enter(mine_.sequence, mine_.terms.fingerprint);
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

  bool shares_work() const { return work_.moved() >= shared_bytes && state_.host.workers() > 1; }

  // By the last to arrive, or to be done, while all others wait: what they do next.
  job say_next(job done, bool arriving) noexcept {
    job next = job::over;
    try {
      next = arriving ? begin() : done == job::join ? end_joining() : job::over;
    } catch (...) {
      end_all(break_communicator());
    }
    here_.say(state_.seat, next, arriving);
    return next;
  }

  job begin() {
    if (!agree()) return end_all(communicator_failure()), job::over;
    work_.begin();
    if (!work_.joins()) return go_between();
    if (shares_work()) return job::join;
    try {
      work_.join_all();
    } catch (...) {
      mine_.thrown = std::current_exception();
    }
    return end_joining();
  }

  /// All here call the same.
  bool agree() {
    const meeting::seat& first = here_.at(0);
    for (std::size_t i = 1; i < here_.size(); ++i) {
      const meeting::seat& other = here_.at(i);
      if (other.sequence == first.sequence && other.terms == first.terms) continue;
      const auto called = [&](std::size_t seat) {
        return "rank " + std::to_string(here_.rank_at(seat)) + " called " +
               describe_fingerprint(here_.at(seat).terms.fingerprint);
      };
      const char* how = "";
      if (other.terms.fingerprint == first.terms.fingerprint)
        how = other.terms == first.terms ? " after other calls" : " with other counts";
      return refuse(called(0) + " where " + called(i) + how);
    }
    return call_.what != collective::alltoall || !call_.uneven || agree_on_counts();
  }

  /// What each rank sends another is what that expects.
  bool agree_on_counts() {
    for (std::size_t from = 0; from < here_.size(); ++from)
      for (std::size_t to = 0; to < here_.size(); ++to) {
        const std::size_t sent = here_.at(from).sent->bytes_of(here_.rank_at(to));
        const std::size_t expected = here_.at(to).received->bytes_of(here_.rank_at(from));
        if (sent == expected) continue;
        return refuse("in an alltoall with counts rank " + std::to_string(here_.rank_at(from)) + " sends rank " +
                      std::to_string(here_.rank_at(to)) + " " + std::to_string(sent) + " bytes where that expects " +
                      std::to_string(expected));
      }
    return true;
  }

  bool refuse(const std::string& why) {
    state_.host.messages().break_communicator(state_.id(), errc::mismatched_call,
                                              why + " (communicator " + std::to_string(state_.id()) + ")");
    return false;
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

  void do_part(job what) noexcept {
    try {
      if (what == job::join)
        work_.join(state_.seat);
      else
        work_.take(state_.seat);
    } catch (...) {
      (what == job::join ? mine_.thrown : mine_.failure) = std::current_exception();
    }
  }

  /// All have joined what they have.
  job end_joining() {
    std::shared_ptr<const fabric::poison> poisoned;
    for (std::size_t i = 0; i < here_.size() && poisoned == nullptr; ++i)
      if (const auto& thrown = here_.at(i).thrown)
        poisoned = std::make_shared<const fabric::poison>(fabric::poison{here_.rank_at(i), message_of(thrown)});
    if (!here_.alone() || poisoned == nullptr) return go_between(std::move(poisoned));
    return end_poisoned({nullptr, std::move(poisoned)}), job::over;
  }

  /// The other processes' part, and what is left to be done here behind it.
  job go_between(std::shared_ptr<const fabric::poison> poisoned = nullptr) {
    if (!here_.alone()) {
      const leader_result result =
          here_.between().run(call_between(std::move(poisoned)), *here_.at(0).member, state_.selection);
      if (result.poisoned != nullptr) return end_poisoned(result), job::over;
      if (result.failure != nullptr) return end_all(result.failure), job::over;
    }
    if (!work_.takes()) return job::over;
    if (shares_work() || work_.takes_itself()) return job::take;
    for (std::size_t i = 0; i < here_.size(); ++i) work_.take(i);
    return job::over;
  }

  leader_call call_between(std::shared_ptr<const fabric::poison> poisoned) {
    leader_call call = work_.between();
    call.sequence = mine_.sequence;
    call.fingerprint = mine_.terms.fingerprint;
    call.custom = here_.at(0).custom;
    call.poisoned = std::move(poisoned);
    return call;
  }

  /// Ends the call on those that depend on what an operator was to make, and where one threw.
  void end_poisoned(const leader_result& result) {
    const auto told = fabric::as_failure(*result.poisoned);
    for (std::size_t i = 0; i < here_.size(); ++i) {
      meeting::seat& each = here_.at(i);
      const bool depends = !schedules::is_rooted(call_.what) || here_.rank_at(i) == call_.root;
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
  joined_work& work_;
  meeting::seat& mine_;
};

}  // namespace

bool joins(const communicator_state& state, const request& call) {
  const bool named = state.selection.wanted[static_cast<std::size_t>(call.what)] != nullptr;
  if (!state.here->joins() || named) return false;
  const meeting& here = *state.here;
  switch (call.what) {
    case collective::barrier:
    case collective::broadcast:
      return true;
    case collective::reduce:
    case collective::allreduce:
      return here.in_rows() || custom_of(call.custom) != custom_operator::keeps_order;
    case collective::alltoall:
      if (call.uneven) return here.alone();
      break;
    default:
      break;
  }
  return here.in_rows();
}

void run_joined(communicator_state& state, const request& call, const request_shape& shape) {
  meeting& here = *state.here;
  const auto run = [&](joined_work&& work) { joined_call(state, call, work).run(shape); };
  switch (call.what) {
    case collective::reduce_scatter:
    case collective::allgather:
    case collective::gather:
    case collective::scatter:
      return run(joined_blocks(here, call, shape));
    case collective::alltoall:
      return run(joined_alltoall(here, call, shape, state.seat));
    case collective::scan:
    case collective::exscan:
      return run(joined_scan(here, call, shape.vector * call.element_bytes));
    default:
      return run(joined_vector(here, call, shape.vector * call.element_bytes));
  }
}

}  // namespace weft::detail
