// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same everywhere for the same seed, and cost little to begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft_test {

/// Steele and others 2014, "Fast splittable pseudorandom number generators".
class draws {
 public:
  explicit draws(std::uint64_t seed) : state_(seed) {}
  draws(std::uint64_t seed, std::uint64_t which) : state_(seed ^ (which + 1) * 0xd1342543de82ef95u) { next(); }

  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  int below(int bound) { return static_cast<int>(below(static_cast<std::size_t>(bound))); }
  bool one_in(std::size_t many) { return below(many) == 0; }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace weft_test
