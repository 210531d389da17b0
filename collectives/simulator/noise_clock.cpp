// SPDX-License-Identifier: Apache-2.0
#include "noise_clock.hpp"

#include <algorithm>
#include <cmath>

namespace weft::simulator {
namespace {

/// The `number`-th draw from [0, 1): splitmix64 (Steele, Lea and Flood 2014), which is the same on every machine.
double draw(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t state = seed + (number + 1) * 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  state ^= state >> 31;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

}  // namespace

noise_clock::noise_clock(const noise_model& model, int ranks)
    : period_(model.duration > 0 ? model.period : 0),
      duration_(model.duration),
      quiet_(period_ == 0 || model.progress_thread) {
  if (period_ == 0) return;
  const int phases = model.phases == noise_model::phase::random ? ranks : 1;
  for (int i = 0; i < phases; ++i) phases_.push_back(period_ * draw(model.seed, static_cast<std::uint64_t>(i)));
}

double noise_clock::available(int rank, double time) const {
  if (period_ == 0) return time;
  const double begin = phase(rank) + std::floor((time - phase(rank)) / period_) * period_;
  return std::max(time, begin + duration_);
}

double noise_clock::finish(int rank, double time, double work) const {
  if (period_ == 0) return time + work;
  time = available(rank, time);
  const double next_noise = phase(rank) + (std::floor((time - phase(rank)) / period_) + 1) * period_;
  if (work <= next_noise - time) return time + work;
  work -= next_noise - time;
  const double free = period_ - duration_;  // between two noises
  const double whole = std::ceil(work / free) - 1;
  return next_noise + whole * period_ + duration_ + (work - whole * free);
}

}  // namespace weft::simulator
