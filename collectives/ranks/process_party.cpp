#include <weft/ranks/process_party.hpp>

namespace weft::detail {
namespace {

// Fibonacci hashing (Knuth, volume 3, 6.4): the upper half of the product depends on every bit.
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

/// The call in the bits that a stamp has for it.
std::uint32_t stamp_of(const meeting::seat& of) {
  return static_cast<std::uint32_t>(((of.hash ^ of.sequence) * golden) >> 32);
}

}  // namespace

process_party::process_party(meeting& here, std::size_t seat, const request& call, std::size_t element_bytes, bool sole)
    : here_(here),
      seat_(seat),
      call_(call),
      worker_(here_.worker_of(seat)),
      mine_(here_.workers()[worker_]),
      sole_(sole),
      element_(element_bytes),
      by_(call, here_.at(seat).kernel) {
  fill(mine_.seats);
}

void process_party::fill(std::span<const std::size_t> seats) noexcept {
  for (const std::size_t m : seats) {
    give_from(m, here_.at(m).input);
    take_to(m, here_.at(m).output);
  }
}

void process_party::show_thrown() noexcept {
  mine_.thrown = std::exchange(thrown_, nullptr);
  mine_.thrower = seat_;
}

void process_party::take_turn() {
  if (!turn_) turn_.emplace(here_.rounds(), worker_, stamp_of(here_.at(seat_)));
}

bool process_party::begin_showing(std::size_t each) {
  begin(each);
  each_ = each * element_;
  if (here_.workers().size() == 1 || each == 0) return true;
  take_turn();
  shown_ = turn_->make_room(each_ * mine_.seats.size());
  return true;
}

void process_party::use_shown(bool but_own) noexcept {
  if (each_ == 0) return;
  for (std::size_t b = 0; b < here_.workers().size(); ++b) {
    if (b == worker_ && but_own) continue;
    const std::span<const std::size_t> seats = here_.workers()[b].seats;
    const std::byte* from = turn_->value_of(b, each_ * seats.size());
    for (const std::size_t m : seats) give_from(m, std::exchange(from, from + each_));
  }
}

bool process_party::await_others() {
  for (std::size_t b = 0; b < here_.workers().size(); ++b)
    if (b != worker_ && !await_worker(b)) return false;
  if (!turn_) return true;  // there are no others
  fill(everyone());
  stays_ = turn_->number();
  return turn_->hold();
}

bool process_party::await_worker(std::size_t worker) {
  take_turn();
  const auto found = turn_->await(worker, each_ * here_.workers()[worker].seats.size(), stays_);
  if (found == worker_rounds::found::here) [[likely]]
    return true;
  const std::size_t other = first_at(worker);
  if (found == worker_rounds::found::differs) here_.refuse_difference(std::min(self(), other), std::max(self(), other));
  return false;
}

void process_party::combine_into_targets(patterns::range of) noexcept {
  const std::span<std::byte* const> targets = mine_.targets;
  guarded([&] {
    combine_inputs(by_, {mine_.inputs.data(), size()}, of.first, of.count, targets[0] + of.first * element_,
                   targets.subspan(1));
  });
}

process_party::asides::asides(const process_party& of) : each_(of.near() * of.element_) {
  if (each_ > near_bytes) far_ = make_aligned_bytes(2 * each_);
}

}  // namespace weft::detail
