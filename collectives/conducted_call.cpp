#include "conducted_call.hpp"

#include <utility>
#include <weft/runtime/error.hpp>

#include "joined_failures.hpp"

namespace weft::detail {
namespace {

/// So many bytes are joined and taken by all benches; fewer by the one that conducts, at once.
constexpr std::size_t shared_bytes = 32 << 10;

template <class Part>
void catching(std::exception_ptr& thrown, Part&& part) noexcept {
  try {
    part();
  } catch (...) {
    thrown = std::current_exception();
  }
}

}  // namespace

conducted_call::conducted_call(communicator_state& state, const request& call, joined_work& work,
                               worker_rounds::round* turn)
    : state_(state),
      here_(*state.here),
      call_(call),
      work_(work),
      turn_(turn),
      mine_(here_.at(state.seat)),
      seats_(here_.benches()[mine_.bench].seats) {}

void conducted_call::follow() {
  while (true) {
    const auto word = turn_->await_word(conducting_bench);
    if (word.how == worker_rounds::found::failed)
      return end_calls(here_, seats_, state_.host.failure_of(state_.member));
    if (static_cast<job>(word.what) == job::over) return;
    do_part(static_cast<job>(word.what));
    turn_->done();
  }
}

void conducted_call::conduct() {
  if (turn_ != nullptr && !turn_->hold()) return end_calls(here_, seats_, state_.host.failure_of(state_.member));
  try {
    run();
  } catch (...) {
    end_all(state_.host.break_communicator(state_.member));
  }
  if (turn_ == nullptr) return;
  turn_->let_go();
  turn_->say(static_cast<std::uint32_t>(job::over));
}

bool conducted_call::shares_work() const { return work_.moved() >= shared_bytes && turn_ != nullptr; }

void conducted_call::run() {
  if (call_.what == collective::alltoall && call_.uneven && !agree_on_counts(state_))
    return end_all(state_.host.failure_of(state_.member));
  for (std::size_t i = 0; i < here_.size(); ++i) {
    here_.inputs[i] = here_.at(i).input;
    here_.outputs[i] = here_.at(i).output;
  }
  work_.begin();
  if (!work_.joins()) return go_between();
  if (shares_work())
    all_do(job::join);
  else
    catching(mine_.thrown, [&] { work_.join_all(); });
  end_joining();
}

void conducted_call::all_do(job what) {
  if (turn_ != nullptr) turn_->say(static_cast<std::uint32_t>(what));
  do_part(what);
  if (turn_ != nullptr) turn_->await_all_done();
}

void conducted_call::do_part(job what) noexcept {
  if (what == job::join) return catching(mine_.thrown, [&] { work_.join(mine_.bench); });
  for (const std::size_t i : seats_) catching(here_.at(i).failure, [&] { work_.take(i); });
}

void conducted_call::end_all(const std::exception_ptr& failure) noexcept {
  for (const meeting::bench& each : here_.benches()) end_calls(here_, each.seats, failure);
}

void conducted_call::end_joining() {
  std::shared_ptr<const fabric::poison> poisoned;
  for (std::size_t i = 0; i < here_.size() && poisoned == nullptr; ++i)
    if (const auto& thrown = here_.at(i).thrown)
      poisoned = std::make_shared<const fabric::poison>(fabric::poison{here_.rank_at(i), message_of(thrown)});
  if (!here_.alone() || poisoned == nullptr) return go_between(std::move(poisoned));
  end_poisoned({nullptr, std::move(poisoned)});
}

void conducted_call::go_between(std::shared_ptr<const fabric::poison> poisoned) {
  if (!here_.alone()) {
    const leader_result result =
        here_.between().run(call_between(std::move(poisoned)), *here_.at(0).member, state_.selection);
    if (result.poisoned != nullptr) return end_poisoned(result);
    if (result.failure != nullptr) return end_all(result.failure);
  }
  if (!work_.takes()) return;
  if (shares_work() || work_.takes_itself()) return all_do(job::take);
  for (std::size_t i = 0; i < here_.size(); ++i) work_.take(i);
}

leader_call conducted_call::call_between(std::shared_ptr<const fabric::poison> poisoned) {
  leader_call call = work_.between();
  call.sequence = mine_.sequence;
  call.fingerprint = mine_.terms.fingerprint;
  call.custom = here_.at(0).custom;
  call.poisoned = std::move(poisoned);
  return call;
}

// Of those that depend on what an operator was to make, and where one threw.
void conducted_call::end_poisoned(const leader_result& result) {
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

}  // namespace weft::detail
