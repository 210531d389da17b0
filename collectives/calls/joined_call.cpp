// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/calls/joined_call.hpp>

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
  if (here().rounds().has_failed()) fail(here().failure_of(state_.member));
  take_seat();
  if (!team().is_exchange()) {
    say_all();
    came_ = here().arrive(state_.seat);
    left_ = part::all;
    return finish();
  }
  lead([this] {
    team().begin(call_, known_.shape);
    team().show();
    team().use_shown();
  });
  conclude();
}

void joined_call::say_all() {
  meeting::seat& its = mine();
  its.custom = call_.custom;
  if (call_.what == collective::alltoall && call_.uneven) {
    its.sent.assign(call_.counts, call_.element_bytes);
    its.received.assign(call_.received, call_.element_bytes);
  }
}

bool joined_call::prepare() {
  if (here().rounds().has_failed()) return false;  // as in run()
  take_seat();
  say_all();
  if (team().is_exchange()) team().begin(call_, known_.shape);  // the first time allocates
  return true;
}

bool joined_call::start() {
  left_ = part::all;
  came_ = here().arrive(state_.seat);
  if (came_ != meeting::arrival::last) return false;
  if (!team().is_shown()) return true;
  left_ = part::none;
  lead([this] {
    if (!begin_if_same()) return;
    team().show();
    team().wake();
    left_ = part::use_shown;
  });
  return seats().size() != 1;
}

void joined_call::finish() {
  if (came_ == meeting::arrival::last) {
    lead([this] {
      if (left_ == part::use_shown)
        team().use_shown();
      else if (left_ == part::all && begin_if_same())
        team().run();
    });
    here().release(state_.seat);
  } else {
    if (came_ == meeting::arrival::early) came_ = here().await_end(state_.seat);
    if (came_ == meeting::arrival::failed) fail(here().failure_of(state_.member));
  }
  conclude();
}

bool joined_call::begin_if_same() {
  const bool same = all_call_the_same();
  if (same)
    team().begin(call_, known_.shape);
  else
    here().end_calls(seats(), here().failure_of(state_.member));
  return same;
}

void joined_call::say_terms() {
  meeting::seat& its = mine();
  if (!known_.has_joined) {
    known_.kernel = schedules::combines(call_.what) ? array_operator(call_).kernel : nullptr;
    known_.shown = shown_bytes(here(), call_, known_.shape, state_.selection);
    known_.hash = hash_of(known_.terms);
    known_.has_joined = true;
  }
  its.known = &known_;
  its.member = &state_.member;
  its.terms = known_.terms;
  team().forget_terms();
}

/// By the last rank of a worker: the call of all its ranks.
template <class Work>
void joined_call::lead(Work work) noexcept {
  try {
    work();
  } catch (...) {
    here().end_calls(seats(), state_.host.break_communicator(state_.member));
  }
}

/// On this worker.
bool joined_call::all_call_the_same() {
  const meeting::seat& first = here().at(seats()[0]);
  for (const std::size_t i : seats().subspan(1)) {
    const meeting::seat& other = here().at(i);
    if (other.sequence == first.sequence && other.terms == first.terms) continue;
    here().refuse_difference(seats()[0], i);
    return false;
  }
  return true;
}

void joined_call::hand_out() {
  meeting::seat& its = mine();
  if (call_.common_output != nullptr) *call_.common_output = std::move(its.common);
  if (its.failure != nullptr) fail(std::exchange(its.failure, nullptr));
}

void joined_call::fail(const std::exception_ptr& failure) {
  rethrow(state_, schedules::call_name(call_.what), failure);
}

}  // namespace weft::detail
