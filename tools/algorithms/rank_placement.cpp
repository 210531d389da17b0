// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <weft/algorithms/rank_placement.hpp>

namespace weft::tools {

std::vector<int> place_ranks(int machines, int ranks, const std::string& placing, std::uint64_t seed) {
  const int on_each = (ranks + machines - 1) / machines;
  std::vector<int> placed;
  for (int rank = 0; rank < ranks; ++rank) placed.push_back(placing == "cyclic" ? rank % machines : rank / on_each);
  if (placing != "random") return placed;
  // Not std::shuffle, which differs between libraries.
  std::mt19937_64 random(seed);
  for (std::size_t i = placed.size(); i > 1; --i) std::swap(placed[i - 1], placed[random() % i]);
  return placed;
}

std::vector<std::vector<int>> group_in_rows(int ranks, int each) {
  std::vector<std::vector<int>> groups;
  for (int first = 0; each > 0 && first < ranks; first += each) {
    groups.emplace_back(static_cast<std::size_t>(std::min(each, ranks - first)));
    std::iota(groups.back().begin(), groups.back().end(), first);
  }
  return groups;
}

}  // namespace weft::tools
