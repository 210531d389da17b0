#include "joined_call.hpp"

#include <utility>
#include <weft/calls/agreement.hpp>

namespace weft::detail {
namespace {

// Fibonacci hashing (Knuth, volume 3, 6.4): the upper half of the product depends on every bit.
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

std::uint64_t hash_of(const call_terms& terms) {
  std::uint64_t hash = 0;
  for (const std::uint64_t part :
       {terms.fingerprint, terms.count, static_cast<std::uint64_t>(terms.root), terms.element_bytes}) {
    hash = (hash ^ part) * golden;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

void joined_call::run() {
  // From then on others may still read what this rank called before, to say why it failed.
  if (here_.rounds().has_failed()) fail(state_.host.failure_of(state_.member));
  take_seat();
  if (!team_.is_exchange()) return run_in_turn();
  team_.begin(call_, known_.shape);
  lead([this] {
    team_.show();
    team_.use_shown();
  });
  conclude();
}

void joined_call::run_in_turn() {
  switch (here_.arrive(state_.seat)) {
    case meeting::arrival::failed:
      fail(state_.host.failure_of(state_.member));
    case meeting::arrival::last:
      lead([this] {
        if (!all_call_the_same()) return here_.end_calls(seats(), state_.host.failure_of(state_.member));
        team_.begin(call_, known_.shape);
        team_.run();
      });
      here_.release(state_.seat);
      break;
    case meeting::arrival::over:
      break;
  }
  conclude();
}

bool joined_call::is_exchange() {
  take_seat();
  team_.begin(call_, known_.shape);  // the first time allocates
  return team_.is_exchange();
}

bool joined_call::show() {
  if (here_.rounds().has_failed()) return false;  // others may still read what it showed before
  team_.begin(call_, known_.shape);
  team_.show();
  return true;
}

void joined_call::use_shown(bool shown) {
  if (!shown) fail(state_.host.failure_of(state_.member));
  lead([this] { team_.use_shown(); });
  conclude();
}

void joined_call::take_seat() {
  if (mine_.known != &known_ || !known_.joined) [[unlikely]]
    say_terms();
  mine_.sequence = sequence_;
  agree_if_checked(state_, call_, known_, mine_.sequence);
  mine_.custom = call_.custom;
  mine_.member = &state_.member;
  mine_.input = static_cast<const std::byte*>(call_.in);
  mine_.output = static_cast<std::byte*>(call_.out);
  if (call_.what == collective::alltoall && call_.uneven) {
    mine_.sent.assign(call_.counts, call_.element_bytes);
    mine_.received.assign(call_.received, call_.element_bytes);
  }
  if ((sequence_ & sequence_of_plan) == 0) state_.member.silent.enter(sequence_, mine_.terms.fingerprint);
}

void joined_call::say_terms() {
  if (!known_.joined) {
    const auto kernel = schedules::combines(call_.what) ? array_operator(call_).kernel : nullptr;
    known_.joined = {hash_of(known_.terms), shown_bytes(here_, call_, known_.shape, state_.selection), kernel};
  }
  mine_.known = &known_;
  mine_.terms = known_.terms;
  mine_.joined = *known_.joined;
  team_.forget_terms();
}

/// By the last rank of a worker: the call of all its ranks.
template <class Work>
void joined_call::lead(Work work) noexcept {
  try {
    work();
  } catch (...) {
    here_.end_calls(seats(), state_.host.break_communicator(state_.member));
  }
}

/// On this worker.
bool joined_call::all_call_the_same() {
  const meeting::seat& first = here_.at(seats()[0]);
  for (const std::size_t i : seats().subspan(1)) {
    const meeting::seat& other = here_.at(i);
    if (other.sequence == first.sequence && other.terms == first.terms) continue;
    here_.refuse_difference(seats()[0], i);
    return false;
  }
  return true;
}

void joined_call::conclude() {
  if (call_.common_output != nullptr) *call_.common_output = std::move(mine_.common);
  if (mine_.failure != nullptr) fail(std::exchange(mine_.failure, nullptr));
}

void joined_call::fail(const std::exception_ptr& failure) {
  rethrow(state_, schedules::call_name(call_.what), failure);
}

}  // namespace weft::detail
