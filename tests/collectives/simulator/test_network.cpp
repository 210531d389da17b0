// SPDX-License-Identifier: Apache-2.0
// Ways through trees, fat trees and tori.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "catch.hpp"
#include "jobs.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

std::vector<std::uint32_t> way(const network& of, int from, int to) {
  std::vector<std::uint32_t> links;
  append_way(of, from, to, links);
  return links;
}

/// Whether the links of the way make a walk from one node to the other that uses each of them.
bool leads(const network& of, int from, int to) {
  std::map<int, int> next;
  const auto links = way(of, from, to);
  for (const std::uint32_t l : links)
    if (!next.emplace(of.links[l].from, of.links[l].to).second) return false;
  std::size_t walked = 0;
  int at = from;
  for (; at != to; ++walked) {
    if (next.count(at) == 0) return false;
    at = next[at];
  }
  return walked == links.size();
}

/// How many links there are between a node and each other at the least.
std::vector<int> distances(const network& of, int from) {
  std::vector<int> all(static_cast<std::size_t>(of.nodes()), -1);
  all[static_cast<std::size_t>(from)] = 0;
  for (std::deque<int> next{from}; !next.empty(); next.pop_front())
    for (const weft::simulator::link& l : of.links)
      if (l.from == next.front() && all[static_cast<std::size_t>(l.to)] == -1) {
        all[static_cast<std::size_t>(l.to)] = all[static_cast<std::size_t>(l.from)] + 1;
        next.push_back(l.to);
      }
  return all;
}

void check_shortest_ways(const network& of, int machines) {
  for (int from = 0; from < machines; ++from) {
    const auto distance = distances(of, from);
    for (int to = 0; to < machines; ++to) {
      CAPTURE(from, to);
      REQUIRE(leads(of, from, to));
      REQUIRE(static_cast<int>(way(of, from, to).size()) == distance[static_cast<std::size_t>(to)]);
    }
  }
}

}  // namespace

TEST_CASE("ways are shortest ways, in trees, fat trees and tori") {
  check_shortest_ways(tree_of(std::vector{4, 4, 5, 6, 6, 6, -1, 5, 5}), 9);
  check_shortest_ways(fat_tree_of({{4, 4}, {1, 2}, {1, 2}}), 16);
  check_shortest_ways(fat_tree_of({{3, 2, 4}, {2, 3, 2}, {1, 1, 1}}), 24);
  check_shortest_ways(fat_tree_of({{2, 3}, {2, 2}, {3, 2}}), 6);
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{2}, {5}, {6}, {4, 4}, {2, 3, 5}, {4, 6, 2}}) {
    const network made = torus_of(sizes);
    check_shortest_ways(made, made.nodes());
  }
}

TEST_CASE("a fat tree of one switch above each node is a tree") {
  const network fat = fat_tree_of({{4, 2}, {1, 1}, {1, 1}});
  const network tree = tree_of(std::vector{8, 8, 8, 8, 9, 9, 9, 9, 10, 10, -1});
  REQUIRE(fat.nodes() == tree.nodes());
  for (int from = 0; from < 8; ++from)
    for (int to = 0; to < 8; ++to) CHECK(way(fat, from, to) == way(tree, from, to));
  CHECK(link_levels(fat) == link_levels(tree));
}

TEST_CASE("all ways to a machine come down by the same switches, those to its neighbours by others") {
  const network fat = fat_tree_of({{4, 4}, {1, 4}, {1, 1}});
  const auto top_between = [&](int from, int to) {
    int top = -1;
    for (const std::uint32_t l : way(fat, from, to)) top = std::max(top, fat.links[l].to);
    return top;
  };
  for (int to = 0; to < 16; ++to)
    for (int from = 0; from < 16; ++from)
      if (from / 4 != to / 4) CHECK(top_between(from, to) == 20 + to % 4);
  // Senders take turns among cables that lead down beside one another.
  const network two = fat_tree_of({{2, 2}, {1, 1}, {1, 2}});
  std::set<std::uint32_t> down;
  for (const int from : {2, 3})
    for (const std::uint32_t l : way(two, from, 0))
      if (two.links[l].from == 6) down.insert(l);
  CHECK(down.size() == 2);
}

TEST_CASE("a torus goes the shorter way round, and counts up where both are as long, but down from the middle") {
  const network ring = torus_of({6});
  const auto goes_up = [&](int from, int to) { return way(ring, from, to).front() % 2 == 0; };
  CHECK(goes_up(0, 2));
  CHECK(goes_up(5, 1));
  CHECK_FALSE(goes_up(1, 5));
  CHECK(goes_up(0, 3));
  CHECK(goes_up(4, 1));
  CHECK_FALSE(goes_up(3, 0));
  // Dimension by dimension: from (0, 0) to (1, 1) by (1, 0).
  const network square = torus_of({4, 4});
  CHECK(square.links[way(square, 0, 5).front()].to == 1);
}

TEST_CASE("the level of a link is how high its lower end is, or its dimension") {
  // 8 is the top, above 6 and 7; 7 is above 4 and 5 with a machine each and machine 3; machines 1 and 2 are at 6.
  const network tree = tree_of(std::vector{4, 6, 6, 7, 7, 7, 8, 8, -1});
  CHECK(link_levels(tree) == std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2});
  CHECK(link_levels(torus_of({2, 2})) == std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("far links add their delay, and have an overhead and gaps of their own") {
  network links = with_capacity(tree_of(std::vector{2, 3, 4, 4, -1}), 1, {0, 1});
  machine_model model;
  model.latency = 10;
  model.overhead = 5;
  model.gap = 3;
  model.gap_per_byte = 1;
  const workload two = job_of({{send(1, 4), send(1, 4)}, {receive(0, 4), receive(0, 4)}});
  // Overheads overlap with transfers: 5 + 5, then 4 + 10, and the other end's 5.
  CHECK(completion(two, model, &links) == 29);
  links.links[4].delay = 100;  // from node 2 to the top
  CHECK(completion(two, model, &links) == 129);
  links.links[4].gap = 30;
  CHECK(completion(two, model, &links) == 5 + 30 + 4 + 110 + 5);
  links.links[4].overhead = 20;
  CHECK(completion(two, model, &links) == 20 + 30 + 4 + 110 + 20);
  links.links[4].gap_per_byte = 10;
  CHECK(completion(two, model, &links) == 20 + 40 + 40 + 110 + 20);
}

TEST_CASE("a network that is none, or that a rank is not on, is refused by name") {
  const auto no_tree = [](const std::vector<int>& parent, const char* why) {
    CHECK_THROWS_WITH(tree_of(parent), ContainsSubstring(why));
  };
  no_tree({-1, -1}, "a tree has one root, not 2");
  no_tree({-1, 2, 1}, "node 1 is below itself");
  no_tree({-1, 5}, "node 1 has no node as its parent: 5");
  CHECK_THROWS_WITH(torus_of({4, 1}), ContainsSubstring("sizes from 2 on"));
  CHECK_THROWS_WITH(torus_of({}), ContainsSubstring("sizes from 2 on"));
  CHECK_THROWS_WITH(torus_of({1 << 13, 1 << 13}), ContainsSubstring("more than 16777216 nodes"));
  CHECK_THROWS_WITH(fat_tree_of({{4, 4}, {1}, {1, 1}}), ContainsSubstring("as many numbers"));
  CHECK_THROWS_WITH(fat_tree_of({{4, 0}, {1, 1}, {1, 1}}), ContainsSubstring("from 1, not 0"));
  CHECK_THROWS_WITH(fat_tree_of({{4096, 4096}, {4096, 4096}, {1, 1}}), ContainsSubstring("more than 16777216 "));
  const workload all = job_of({{send(1, 1)}, {receive(0, 1)}});
  const auto refuse = [&](const network& links, const char* why) {
    CHECK_THROWS_WITH(simulate(all, {}, &links), ContainsSubstring(why));
  };
  network two = with_capacity(tree_of(std::vector{-1, 0}), 1, {0, 1});
  refuse(with_capacity(two, 1, {0}), "rank 1 is on no node");
  refuse(with_capacity(two, 1, {0, 2}), "rank 1 is on no node");
  refuse(with_capacity(two, 0, {0, 1}), "the link from node 1 to node 0 has no capacity");
  two.links[1].delay = -1;
  refuse(two, "the link from node 0 to node 1 costs what is no finite time");
}
