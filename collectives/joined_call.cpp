#include "joined_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agreement.hpp"
#include "conducted_call.hpp"
#include "joined_alltoall.hpp"
#include "joined_blocks.hpp"
#include "joined_failures.hpp"
#include "joined_scan.hpp"
#include "joined_vector.hpp"
#include "prepared_calls.hpp"

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

/// The call in the bits that a stamp has for it.
std::uint32_t stamp_of(const meeting::seat& of) {
  return static_cast<std::uint32_t>(((of.hash ^ of.sequence) * golden) >> 32);
}

/// One rank's call.
class joined_call {
 public:
  joined_call(communicator_state& state, const request& call, joined_work& work)
      : state_(state),
        here_(*state.here),
        call_(call),
        work_(work),
        mine_(here_.at(state.seat)),
        seats_(here_.benches()[mine_.bench].seats) {}

  void run(known_call& known) {
    // From then on others may still read what this rank called before, to say why it failed.
    if (here_.rounds().has_failed()) fail(state_.host.failure_of(state_.member));
    take_seat(known);
    switch (here_.arrive(state_.seat)) {
      case meeting::arrival::failed:
        fail(state_.host.failure_of(state_.member));
      case meeting::arrival::last:
        lead();
        here_.release(state_.seat);
        break;
      case meeting::arrival::over:
        break;
    }
    if (call_.common_output != nullptr) *call_.common_output = std::move(mine_.common);
    if (mine_.failure != nullptr) fail(std::exchange(mine_.failure, nullptr));
  }

 private:
  using round = worker_rounds::round;

  void take_seat(known_call& known) {
    if (!known.seated) say_terms(known);
    mine_.sequence = state_.next_sequence();
    agree_if_checked(state_, call_, known, mine_.sequence);
    mine_.custom = call_.custom;
    mine_.member = &state_.member;
    mine_.input = static_cast<const std::byte*>(call_.in);
    mine_.output = static_cast<std::byte*>(call_.out);
    state_.member.silent.enter(mine_.sequence, mine_.terms.fingerprint);
  }

  void say_terms(known_call& known) {
    mine_.terms = known.terms;
    mine_.hash = hash_of(mine_.terms);
    mine_.copied = work_.copied();
    if (schedules::combines(call_.what)) mine_.kernel = array_operator(call_).kernel;
    known.seated = true;
  }

  [[noreturn]] void fail(const std::exception_ptr& failure) {
    rethrow(state_, schedules::call_name(call_.what), failure);
  }

  /// By the last of a bench: the call of all its ranks.
  void lead() noexcept {
    try {
      if (!all_call_the_same())
        end_calls(here_, seats_, state_.host.failure_of(state_.member));
      else if (here_.benches().size() == 1)
        conducted_call(state_, call_, work_, nullptr).conduct();
      else
        meet();
    } catch (...) {
      end_calls(here_, seats_, state_.host.break_communicator(state_.member));
    }
  }

  /// With the other benches.
  void meet() {
    round turn(here_.rounds(), mine_.bench, stamp_of(mine_));
    const std::optional<std::size_t>& copied = mine_.copied;
    if (copied) give_copies(turn, *copied);
    turn.publish();
    if (!copied && mine_.bench != conducting_bench) return conducted_call(state_, call_, work_, &turn).follow();
    if (!await_others(turn)) return end_calls(here_, seats_, state_.host.failure_of(state_.member));
    if (!copied) return conducted_call(state_, call_, work_, &turn).conduct();
    work_.make(mine_.bench, copies(turn, *copied));
    turn.end();
  }

  /// Of all ranks here, one after the other.
  void give_copies(round& turn, std::size_t each) {
    if (each == 0) return;
    std::byte* into = turn.make_room(each * seats_.size());
    for (const std::size_t seat : seats_) {
      if (work_.gives(seat)) std::memcpy(into, here_.at(seat).input, each);
      into += each;
    }
  }

  /// Of all ranks, by seat; of those here their inputs, where these are read once.
  std::span<const std::byte* const> copies(const round& turn, std::size_t each) {
    std::vector<const std::byte*>& all = state_.copies;
    all.resize(here_.size());
    for (std::size_t b = 0; b < here_.benches().size() && each != 0; ++b) {
      const std::span<const std::size_t> seats = here_.benches()[b].seats;
      if (b == mine_.bench && work_.combines_copies()) {
        for (const std::size_t seat : seats) all[seat] = here_.at(seat).input;
        continue;
      }
      const std::byte* from = turn.value_of(b, each * seats.size());
      for (const std::size_t seat : seats) all[seat] = std::exchange(from, from + each);
    }
    return all;
  }

  bool await_others(round& turn) {
    for (std::size_t b = 0; b < here_.benches().size(); ++b) {
      if (b == mine_.bench) continue;
      const auto found = turn.await(b, mine_.copied.value_or(0) * here_.benches()[b].seats.size());
      if (found == worker_rounds::found::here) continue;
      const std::size_t other = here_.benches()[b].seats[0];
      if (found == worker_rounds::found::differs)
        refuse_difference(state_, std::min(seats_[0], other), std::max(seats_[0], other));
      return false;
    }
    return true;
  }

  /// At this bench.
  bool all_call_the_same() {
    const meeting::seat& first = here_.at(seats_[0]);
    for (const std::size_t i : seats_.subspan(1)) {
      const meeting::seat& other = here_.at(i);
      if (other.sequence == first.sequence && other.terms == first.terms) continue;
      refuse_difference(state_, seats_[0], i);
      return false;
    }
    return true;
  }

  communicator_state& state_;
  meeting& here_;
  const request& call_;
  joined_work& work_;
  meeting::seat& mine_;
  const std::span<const std::size_t> seats_;  ///< of its bench
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

void run_joined(communicator_state& state, const request& call, known_call& known) {
  meeting& here = *state.here;
  const request_shape& shape = known.shape;
  const auto run = [&](joined_work&& work) { joined_call(state, call, work).run(known); };
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
