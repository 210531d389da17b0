#include "bench_party.hpp"

namespace weft::detail {
namespace {

// Fibonacci hashing (Knuth, volume 3, 6.4): the upper half of the product depends on every bit.
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

/// The call in the bits that a stamp has for it.
std::uint32_t stamp_of(const meeting::seat& of) {
  return static_cast<std::uint32_t>(((of.hash ^ of.sequence) * golden) >> 32);
}

}  // namespace

bench_party::bench_party(communicator_state& state, const request& call, std::size_t element_bytes, bool sole)
    : state_(state),
      here_(*state.here),
      call_(call),
      bench_(here_.bench_of(state.seat)),
      mine_(here_.benches()[bench_]),
      sole_(sole),
      element_(element_bytes),
      by_(call, here_.at(state.seat).kernel) {
  fill(mine_.seats);
}

void bench_party::fill(std::span<const std::size_t> seats) noexcept {
  for (const std::size_t m : seats) {
    give_from(m, here_.at(m).input);
    take_to(m, here_.at(m).output);
  }
}

void bench_party::show_thrown() noexcept {
  mine_.thrown = std::exchange(thrown_, nullptr);
  mine_.thrower = state_.seat;
}

void bench_party::take_turn() {
  if (!turn_) turn_.emplace(here_.rounds(), bench_, stamp_of(here_.at(state_.seat)));
}

bool bench_party::begin_showing(std::size_t each) {
  begin(each);
  each_ = each * element_;
  if (here_.benches().size() == 1 || each == 0) return true;
  take_turn();
  shown_ = turn_->make_room(each_ * mine_.seats.size());
  return true;
}

void bench_party::use_shown(bool but_own) noexcept {
  if (each_ == 0) return;
  for (std::size_t b = 0; b < here_.benches().size(); ++b) {
    if (b == bench_ && but_own) continue;
    const std::span<const std::size_t> seats = here_.benches()[b].seats;
    const std::byte* from = turn_->value_of(b, each_ * seats.size());
    for (const std::size_t m : seats) give_from(m, std::exchange(from, from + each_));
  }
}

bool bench_party::await_others() {
  for (std::size_t b = 0; b < here_.benches().size(); ++b)
    if (b != bench_ && !await_bench(b)) return false;
  if (!turn_) return true;  // there are no others
  fill(everyone());
  stays_ = turn_->number();
  return turn_->hold();
}

bool bench_party::await_bench(std::size_t bench) {
  take_turn();
  const auto found = turn_->await(bench, each_ * here_.benches()[bench].seats.size(), stays_);
  if (found == worker_rounds::found::here) [[likely]]
    return true;
  const std::size_t other = first_at(bench);
  if (found == worker_rounds::found::differs) here_.refuse_difference(std::min(self(), other), std::max(self(), other));
  return false;
}

void bench_party::combine_into_targets(patterns::range of) noexcept {
  const std::span<std::byte* const> targets = mine_.targets;
  guarded([&] {
    combine_inputs(by_, {mine_.inputs.data(), size()}, of.first, of.count, targets[0] + of.first * element_,
                   targets.subspan(1));
  });
}

bench_party::asides::asides(const bench_party& of) : each_(of.near() * of.element_) {
  if (each_ > near_bytes) far_ = make_aligned_bytes(2 * each_);
}

}  // namespace weft::detail
