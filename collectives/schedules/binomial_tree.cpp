#include <weft/schedules/tree.hpp>

#include "arguments.hpp"

namespace weft::schedules {

tree_position binomial_position(int ranks, int root, int rank) {
  check_rank(ranks, root, "root");
  check_rank(ranks, rank, "rank");
  // In 64 bits, for sums of two ranks.
  const auto rank_at = [&](long long place) { return static_cast<int>((place + root) % ranks); };
  const long long place = (static_cast<long long>(rank) - root + ranks) % ranks;
  tree_position position;
  for (long long bit = 1; bit < ranks; bit <<= 1) {
    if ((place & bit) != 0) {
      position.parent = rank_at(place - bit);
      break;
    }
    if (place + bit < ranks) position.children.push_back(rank_at(place + bit));
  }
  return position;
}

tree binomial_tree(int ranks, int root) {
  check_rank(ranks, root, "root");
  std::vector<tree_edge> receptions;
  receptions.reserve(static_cast<std::size_t>(ranks) - 1);
  for (int rank = 0; rank < ranks; ++rank)
    for (const int child : binomial_position(ranks, root, rank).children) receptions.push_back({child, rank});
  return {ranks, root, receptions};
}

}  // namespace weft::schedules
