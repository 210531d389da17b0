// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <weft/api/grid_places.hpp>

namespace weft::detail {
namespace {

/// The ranks of each node, the nodes in the order of their first ranks.
std::vector<std::vector<int>> ranks_by_node(std::span<const int> nodes) {
  std::vector<std::vector<int>> all;
  std::vector<int> known;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto at = static_cast<std::size_t>(std::ranges::find(known, nodes[rank]) - known.begin());
    if (at == known.size()) {
      known.push_back(nodes[rank]);
      all.emplace_back();
    }
    all[at].push_back(static_cast<int>(rank));
  }
  return all;
}

/// The extents of equal blocks of `ranks` ranks that tile a grid with the fewest pairs between blocks.
class best_block {
 public:
  best_block(const grid_shape& shape, int ranks) : shape_(shape), tried_(shape.dimensions()) { try_from(0, ranks, 0); }
  /// Empty where no blocks tile it.
  const std::vector<int>& extents() const noexcept { return best_; }

 private:
  void try_from(std::size_t d, int rest, std::int64_t cut) {
    if (cut >= least_) return;
    if (d == tried_.size()) {
      if (rest != 1) return;
      least_ = cut;
      best_ = tried_;
      return;
    }
    const int extent = shape_.extents()[d];
    for (int size = 1; size <= std::min(rest, extent); ++size) {
      if (rest % size != 0 || extent % size != 0) continue;
      tried_[d] = size;
      const int blocks = extent / size, borders = blocks == 1 ? 0 : blocks - (shape_.periodic(d) ? 0 : 1);
      try_from(d + 1, rest / size, cut + std::int64_t{borders} * (shape_.size() / extent));
    }
  }

  const grid_shape& shape_;
  std::vector<int> tried_, best_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

/// A place of each rank where the nodes have a block each; none where no blocks of all nodes' ranks tile the grid.
std::vector<int> places_in_blocks(const grid_shape& shape, std::span<const std::vector<int>> by_node) {
  const std::size_t each = by_node[0].size();
  if (!std::ranges::all_of(by_node, [&](const auto& ranks) { return ranks.size() == each; })) return {};
  const best_block best(shape, static_cast<int>(each));
  if (best.extents().empty() && shape.dimensions() != 0) return {};
  std::vector<int> counts(shape.extents().begin(), shape.extents().end());
  for (std::size_t d = 0; d < counts.size(); ++d) counts[d] /= best.extents()[d];
  const grid_shape blocks(counts), block(best.extents());
  std::vector<int> places(static_cast<std::size_t>(shape.size()));
  for (std::size_t node = 0; node < by_node.size(); ++node) {
    const std::vector<int> begins = blocks.coordinates(static_cast<int>(node));
    for (std::size_t i = 0; i < each; ++i) {
      std::vector<int> at = block.coordinates(static_cast<int>(i));
      for (std::size_t d = 0; d < at.size(); ++d) at[d] += begins[d] * best.extents()[d];
      places[static_cast<std::size_t>(by_node[node][i])] = *shape.rank_at(at);
    }
  }
  return places;
}

}  // namespace

std::int64_t pairs_between_nodes(const grid_shape& shape, std::span<const int> node_at) {
  std::int64_t pairs = 0;
  for (int place = 0; place < shape.size(); ++place)
    for (std::size_t d = 0; d < shape.dimensions(); ++d)
      if (const auto next = shape.shift(place, d, 1).destination)
        pairs += node_at[static_cast<std::size_t>(place)] != node_at[static_cast<std::size_t>(*next)];
  return pairs;
}

std::vector<int> places_by_node(const grid_shape& shape, std::span<const int> nodes) {
  const std::vector<std::vector<int>> by_node = ranks_by_node(nodes);
  std::vector<int> best(nodes.size()), together(nodes.size());
  std::iota(best.begin(), best.end(), 0);
  int next = 0;
  for (const auto& ranks : by_node)
    for (const int rank : ranks) together[static_cast<std::size_t>(rank)] = next++;
  const auto pairs = [&](const std::vector<int>& places) {
    std::vector<int> node_at(nodes.size());
    for (std::size_t rank = 0; rank < nodes.size(); ++rank)
      node_at[static_cast<std::size_t>(places[rank])] = nodes[rank];
    return pairs_between_nodes(shape, node_at);
  };
  std::int64_t least = pairs(best);
  const auto take_if_better = [&](std::vector<int> places) {
    if (places.empty()) return;
    if (const std::int64_t its = pairs(places); its < least) {
      least = its;
      best = std::move(places);
    }
  };
  take_if_better(std::move(together));
  take_if_better(places_in_blocks(shape, by_node));
  return best;
}

}  // namespace weft::detail
