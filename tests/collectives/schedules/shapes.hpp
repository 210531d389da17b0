// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the table, in the shapes that tests try.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>

#include "jobs.hpp"

namespace weft_test {

inline std::vector<weft::schedules::schedule> schedules_of(const weft::schedules::algorithm& by,
                                                           weft::schedules::algorithm_arguments shape) {
  return schedules_of(shape.ranks, [&](int rank, weft::schedules::sink& to) {
    shape.rank = rank;
    by.emit(shape, to);
  });
}

inline weft::schedules::purpose meant_by(const weft::schedules::algorithm& by,
                                         const weft::schedules::algorithm_arguments& shape) {
  return {by.kind, shape.root};
}

/// All roots of few ranks, some of many.
inline std::vector<int> roots(int ranks) {
  if (ranks > 9) return {0, 1, ranks / 2, ranks - 1};
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// `count` rows of consecutive ranks, or as many as there are ranks; the last row is the longest.
inline std::vector<std::vector<int>> rows(int ranks, int count) {
  const int n = std::min(ranks, count), each = std::max(1, ranks / (n + 1));
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(n));
  for (int rank = 0; rank < ranks; ++rank)
    groups[static_cast<std::size_t>(std::min(rank / each, n - 1))].push_back(rank);
  return groups;
}

/// Rank r in group r mod count.
inline std::vector<std::vector<int>> dealt(int ranks, int count) {
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(std::min(ranks, count)));
  for (int rank = 0; rank < ranks; ++rank) groups[static_cast<std::size_t>(rank) % groups.size()].push_back(rank);
  return groups;
}

/// Some groups of any sizes, the ranks in no order.
inline std::vector<std::vector<int>> drawn_groups(int ranks, std::mt19937_64& random) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  std::ranges::shuffle(all, random);
  std::vector<std::vector<int>> groups(std::uniform_int_distribution<std::size_t>(1, all.size())(random));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t drawn = std::uniform_int_distribution<std::size_t>(0, groups.size() - 1)(random);
    groups[i < groups.size() ? i : drawn].push_back(all[i]);
  }
  return groups;
}

inline std::string text_of(const weft::schedules::algorithm& by, const weft::schedules::algorithm_arguments& shape) {
  std::string text = std::string(name(by.kind)) + " " + std::string(by.name) + ", ranks " +
                     std::to_string(shape.ranks) + ", root " + std::to_string(shape.root) + ", segments " +
                     std::to_string(shape.by.segments) + ", window " + std::to_string(shape.by.window) + ", degree " +
                     std::to_string(shape.degree) + ", splits " + std::to_string(shape.splits) + ", connections " +
                     std::to_string(shape.connections) + ", groups";
  for (const auto& members : shape.groups) text += " " + std::to_string(members.size());
  text += ", limits " + std::to_string(shape.within.transfers) + " " + std::to_string(shape.within.reducers);
  if (!shape.each.empty()) text += ", uneven";
  return text + (shape.keep_order ? ", in order" : "");
}

/// Costs of ranks that are not alike.
inline std::vector<weft::schedules::rank_costs> uneven_costs(int ranks) {
  std::vector<weft::schedules::rank_costs> costs;
  for (int rank = 0; rank < ranks; ++rank) costs.push_back({rank * 7 % 5 * 1.0, 1.0 + rank % 3, 1.0 + rank % 2});
  return costs;
}

/// Calls `each` with the shape as it is, and with those that differ from it in what only trees take.
template <class Each>
void for_each_tree(const weft::schedules::algorithm& by, const weft::schedules::algorithm_arguments& shape,
                   Each&& each) {
  namespace takes = weft::schedules::takes;
  const auto changed = [&](auto&& change) {
    weft::schedules::algorithm_arguments other = shape;
    change(other);
    each(other);
  };
  each(shape);
  if (by.order == weft::schedules::rank_order::on_request && shape.root != 0)
    changed([](auto& of) { of.keep_order = true; });
  if ((by.parameters & takes::limits) != 0) {
    changed([](auto& of) { of.within.transfers = 2; });
    changed([](auto& of) { of.within.reducers = 2; });
  }
  if ((by.parameters & takes::rank_costs) != 0) changed([](auto& of) { of.each = uneven_costs(of.ranks); });
}

/// Calls `each` with the shapes of an algorithm among `ranks`: with all roots that `roots` gives, and all values of
/// the other parameters that it takes, of a few each.
template <class Each>
void for_each_shape(const weft::schedules::algorithm& by, int ranks, Each&& each) {
  namespace takes = weft::schedules::takes;
  using values = std::vector<int>;
  const auto if_taken = [&](unsigned parameter, const values& tried) {
    return (by.parameters & parameter) != 0 ? tried : values{tried[0]};
  };
  for (const int root : (by.parameters & takes::root) != 0 ? roots(ranks) : values{0})
    for (const int segments : if_taken(takes::segments, {1, 2, 4}))
      for (const int window : if_taken(takes::window, {4, 1, 2}))
        for (const int degree : if_taken(takes::degree, {2, 3, 5, 40}))
          for (const int splits : if_taken(takes::splits, {0, 1, 3}))
            for (const int connections : if_taken(takes::connections, {1, 2, 3}))
              for (const int grouping : if_taken(takes::groups | takes::nodes, {0, 2, 3, -2})) {
                if ((1 << splits) > ranks) continue;
                if (grouping < 0 && (by.parameters & takes::nodes_in_rows) != 0) continue;
                weft::schedules::algorithm_arguments shape;
                shape.ranks = ranks;
                shape.root = root;
                shape.by = {static_cast<std::uint32_t>(segments), static_cast<std::uint32_t>(window)};
                shape.degree = degree;
                shape.splits = splits;
                shape.connections = connections;
                if (grouping > 0) shape.groups = rows(ranks, grouping);
                if (grouping < 0) shape.groups = dealt(ranks, -grouping);
                for_each_tree(by, shape, each);
              }
}

}  // namespace weft_test
