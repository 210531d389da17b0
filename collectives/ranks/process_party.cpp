// SPDX-License-Identifier: Apache-2.0
#include <weft/ranks/process_party.hpp>

namespace weft::detail {

void process_party::show_thrown() noexcept {
  mine_.thrown = std::exchange(thrown_, nullptr);
  mine_.thrower = seat_;
}

void process_party::use_shown(bool but_own) noexcept {
  if (each_ == 0) return;
  for (std::size_t b = 0; b < here_.workers().size(); ++b) {
    if (b == worker_ && but_own) continue;
    const std::span<const std::size_t> seats = here_.workers()[b].seats;
    const std::byte* from = turn_.value_of(b, each_ * seats.size());
    for (const std::size_t m : seats) give_from(m, std::exchange(from, from + each_));
  }
}

bool process_party::await_others() {
  for (std::size_t b = 0; b < workers_; ++b)
    if (b != worker_ && !await_worker(b)) return false;
  if (!has_turn_) return true;  // there are no others
  fill(everyone());
  stays_ = turn_.number();
  return turn_.hold();
}

void process_party::report_difference(std::size_t worker) {
  const std::size_t other = first_at(worker);
  here_.refuse_difference(std::min(self(), other), std::max(self(), other));
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
