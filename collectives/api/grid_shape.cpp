// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <weft/grid_shape.hpp>
#include <weft/runtime/error.hpp>

namespace weft {
namespace {

/// The factors of a number with the least sum, and among those with the least first one: `count` of them, descending.
class best_factors {
 public:
  best_factors(int number, std::size_t count) : found_(count), best_(count, 1) {
    if (count == 0) return;
    best_[0] = number;
    try_from(0, number, number);
  }
  const std::vector<int>& all() const noexcept { return best_; }

 private:
  void try_from(std::size_t place, int rest, int most) {
    if (place + 1 == found_.size()) {
      found_[place] = rest;
      if (rest <= most && rank_of(found_) < rank_of(best_)) best_ = found_;
      return;
    }
    for (int factor = std::min(rest, most); factor >= 1; --factor) {
      if (rest % factor != 0) continue;
      if (!can_hold(rest, factor, found_.size() - place)) return;
      found_[place] = factor;
      try_from(place + 1, rest / factor, factor);
    }
  }
  /// Whether `rest` may be a product of so many numbers that are no greater.
  static bool can_hold(int rest, int greatest, std::size_t numbers) {
    std::int64_t product = 1;
    while (numbers-- > 0 && product < rest) product *= greatest;
    return product >= rest;
  }
  static std::pair<std::int64_t, int> rank_of(const std::vector<int>& factors) {
    return {std::accumulate(factors.begin(), factors.end(), std::int64_t{0}), factors[0]};
  }

  std::vector<int> found_, best_;
};

std::string listed(std::span<const int> numbers) {
  std::string text;
  for (const int each : numbers) text += (text.empty() ? "" : " x ") + std::to_string(each);
  return text.empty() ? "no dimensions" : text;
}

}  // namespace

std::vector<int> balanced_extents(int ranks, std::span<const int> wanted) {
  std::int64_t given = 1;
  for (const int each : wanted) {
    if (each < 0)
      throw error(errc::invalid_count, "extents of a grid: " + std::to_string(each) + " is none; 0 is chosen");
    if (each > 0) given = std::min<std::int64_t>(given * each, std::numeric_limits<int>::max() + std::int64_t{1});
  }
  const auto open = static_cast<std::size_t>(std::ranges::count(wanted, 0));
  if (ranks < 1 || ranks % given != 0 || (open == 0 && given != ranks))
    throw error(errc::invalid_count,
                "extents of a grid: " + listed(wanted) + " do not make up " + std::to_string(ranks) + " ranks");
  const best_factors chosen(static_cast<int>(ranks / given), open);
  std::vector<int> all(wanted.begin(), wanted.end());
  auto next = chosen.all().begin();
  for (int& each : all)
    if (each == 0) each = *next++;
  return all;
}

std::vector<int> balanced_extents(int ranks, std::size_t dimensions) {
  return balanced_extents(ranks, std::vector<int>(dimensions, 0));
}

grid_shape::grid_shape(std::vector<int> extents, std::vector<bool> periodic)
    : extents_(std::move(extents)), periodic_(std::move(periodic)) {
  if (periodic_.empty()) periodic_.assign(extents_.size(), false);
  if (periodic_.size() != extents_.size())
    throw error(errc::invalid_count, "a grid has " + std::to_string(extents_.size()) + " dimensions, and " +
                                         std::to_string(periodic_.size()) + " are said to be periodic or not");
  for (const int each : extents_) {
    if (each < 1 || size_ > std::numeric_limits<int>::max() / each)
      throw error(errc::invalid_count, "a grid of " + listed(extents_) + " ranks: there is none");
    size_ *= each;
  }
}

void grid_shape::check(std::size_t dimension) const {
  if (dimension >= dimensions())
    throw error(errc::invalid_argument, "there is no dimension " + std::to_string(dimension) + " in a grid of " +
                                            std::to_string(dimensions()) + " dimensions");
}

bool grid_shape::periodic(std::size_t dimension) const {
  check(dimension);
  return periodic_[dimension];
}

std::vector<int> grid_shape::coordinates(int rank) const {
  if (rank < 0 || rank >= size_)
    throw error(errc::invalid_rank,
                "there is no rank " + std::to_string(rank) + " in a grid of " + std::to_string(size_) + " ranks");
  std::vector<int> at(dimensions());
  for (std::size_t d = dimensions(); d-- > 0; rank /= extents_[d]) at[d] = rank % extents_[d];
  return at;
}

std::optional<int> grid_shape::rank_at(std::span<const int> coordinates) const {
  if (coordinates.size() != dimensions())
    throw error(errc::invalid_count, "there are " + std::to_string(coordinates.size()) + " coordinates in a grid of " +
                                         std::to_string(dimensions()) + " dimensions");
  int rank = 0;
  for (std::size_t d = 0; d < dimensions(); ++d) {
    int at = coordinates[d];
    if (at < 0 || at >= extents_[d]) {
      if (!periodic_[d]) return std::nullopt;
      at %= extents_[d];
      if (at < 0) at += extents_[d];
    }
    rank = rank * extents_[d] + at;
  }
  return rank;
}

grid_shape::shifted grid_shape::shift(int rank, std::size_t dimension, int by) const {
  check(dimension);
  std::vector<int> at = coordinates(rank);
  const std::int64_t own = at[dimension], extent = extents_[dimension];
  const auto moved = [&](std::int64_t to) -> std::optional<int> {
    at[dimension] = static_cast<int>(periodic_[dimension] ? to % extent : std::clamp<std::int64_t>(to, -1, extent));
    return rank_at(at);
  };
  return {moved(own - by), moved(own + by)};
}

std::vector<std::optional<int>> grid_shape::neighbors(int rank) const {
  std::vector<std::optional<int>> all;
  for (std::size_t d = 0; d < dimensions(); ++d) {
    const shifted both = shift(rank, d, 1);
    all.push_back(both.source);
    all.push_back(both.destination);
  }
  return all;
}

}  // namespace weft
