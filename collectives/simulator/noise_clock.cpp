// SPDX-License-Identifier: Apache-2.0
#include "noise_clock.hpp"

#include <algorithm>
#include <cmath>

#include "draw.hpp"

namespace weft::simulator {

namespace {

/// The same noise with time to work between any two detours: one begins where the one before it ended nowhere, nor does
/// the first one where the last one did.
noise_trace apart(const noise_trace& from) {
  noise_trace made{{}, from.length};
  for (const detour& next : from.detours) {
    if (!made.detours.empty() && made.detours.back().begin + made.detours.back().duration == next.begin)
      made.detours.back().duration += next.duration;
    else
      made.detours.push_back(next);
  }
  if (made.detours.empty()) return made;
  const detour last = made.detours.back();
  if (made.detours.front().begin > 0 || last.begin + last.duration < made.length) return made;
  made.detours.pop_back();
  for (detour& each : made.detours) each.begin += last.duration;
  made.detours.front() = {0, made.detours.front().duration + last.duration};
  return made;
}

}  // namespace

noise_clock::noise_clock(const noise_model& model, int ranks) : quiet_(true) {
  if (model.trace)
    noise_ = apart(*model.trace);
  else if (model.period > 0 && model.duration > 0)
    noise_ = {{{0, model.duration}}, model.period};
  if (silent()) return;
  quiet_ = model.progress_thread;
  double taken = 0;
  for (const detour& each : noise_.detours) {
    taken_before_.push_back(taken);
    free_before_.push_back(each.begin - taken);
    taken += each.duration;
  }
  taken_before_.push_back(taken);
  const int phases = model.phases == noise_model::phase::random ? ranks : 1;
  for (int i = 0; i < phases; ++i) phases_.push_back(noise_.length * draw(model.seed, static_cast<std::uint64_t>(i)));
}

double noise_clock::place(int rank, double time) const {
  const double since = time - phase(rank);
  return since - std::floor(since / noise_.length) * noise_.length;
}

std::size_t noise_clock::begun(double place) const {
  const auto later = [](double at, const detour& d) { return at < d.begin; };
  return static_cast<std::size_t>(std::upper_bound(noise_.detours.begin(), noise_.detours.end(), place, later) -
                                  noise_.detours.begin());
}

double noise_clock::available(int rank, double time) const {
  if (silent()) return time;
  const double at = place(rank, time);
  const std::size_t before = begun(at);
  if (before == 0) return time;
  const detour& last = noise_.detours[before - 1];
  return time + std::max(0.0, last.begin + last.duration - at);
}

double noise_clock::finish(int rank, double time, double work) const {
  if (silent()) return time + work;
  time = available(rank, time);
  const double at = place(rank, time);
  const std::size_t before = begun(at);
  const double all_taken = taken_before_.back(), all_free = noise_.length - all_taken;
  // The time to work from the trace's begin on; work that ends when a detour begins is not delayed by that.
  const double wanted = at - taken_before_[before] + work;
  const double rounds = std::max(0.0, std::ceil(wanted / all_free) - 1);
  const double rest = wanted - rounds * all_free;
  const auto passed =
      static_cast<std::size_t>(std::lower_bound(free_before_.begin(), free_before_.end(), rest) - free_before_.begin());
  const std::size_t until = std::max(passed, rounds > 0 ? 0 : before);
  return time + work + rounds * all_taken + (taken_before_[until] - taken_before_[before]);
}

}  // namespace weft::simulator
