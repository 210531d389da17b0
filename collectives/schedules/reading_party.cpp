// SPDX-License-Identifier: Apache-2.0
#include "reading_party.hpp"

namespace weft::schedules {

void reading_party::offer(int place, const segment& memory) {
  emit_.notify(among_.rank(place), memory);
  offered_[static_cast<std::size_t>(place)] = true;
}

void reading_party::offer_to_others(const segment& memory) {
  for (int next = 1; next < among_.size(); ++next) offer((among_.place + next) % among_.size(), memory);
}

void reading_party::await_offer(int place, const segment& memory) {
  of(place).offer = emit_.await(among_.rank(place), memory);
}

void reading_party::copy(int place, const segment& theirs, const segment& target) {
  segment source = theirs;
  source.owner = among_.rank(place);
  of(place).by.push_back(emit_.copy(source, target, {&of(place).offer, 1}));
}

void reading_party::combine_inputs(block_range blocks, const segment& target) {
  sources_.clear();
  after_.clear();
  std::vector<int> read;
  const auto combine = [&] {
    const step_index made = emit_.combine(sources_, target, after_);
    for (const int place : read) of(place).by.push_back(made);
    read.clear();
    after_.clear();
    sources_.assign({target});
  };
  // One's own first: in place that is where the sum goes.
  for (int next = 0; next < among_.size(); ++next) {
    const int place = (among_.place + next) % among_.size();
    if (sources_.size() == most_sources) combine();
    sources_.push_back(in_input(blocks));
    if (is_me(place)) continue;
    sources_.back().owner = among_.rank(place);
    after_.push_back(of(place).offer);
    read.push_back(place);
  }
  combine();
}

void reading_party::close() {
  for (int place = 0; place < among_.size(); ++place)
    if (of(place).offer != no_step)
      emit_.notify(among_.rank(place), of(place).by.empty() ? std::vector{of(place).offer} : of(place).by);
  for (int place = 0; place < among_.size(); ++place)
    if (offered_[static_cast<std::size_t>(place)]) emit_.await(among_.rank(place));
}

}  // namespace weft::schedules
