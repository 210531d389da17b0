// SPDX-License-Identifier: Apache-2.0
// Links between machines and switches, which transfers share, and the way of a transfer through them.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace weft::simulator {

/// A directed link.
struct link {
  int from = 0, to = 0;     ///< nodes
  double capacity = 0;      ///< bytes per unit of time, more than 0
  double delay = 0;         ///< beside the latency
  double overhead = 0;      ///< o that a message through it has at the least
  double gap = 0;           ///< the same of g
  double gap_per_byte = 0;  ///< that one transfer takes through it at the least
};

/// Trees, and fat trees, in which a node has several above it. A way goes up from both ends until they meet.
struct levels {
  struct node {
    int depth = 0;              ///< how many are above it
    std::uint32_t first = 0;    ///< its first cable in `above`: one to each parent, then the second ones, ...
    std::uint32_t parents = 0;  ///< 0: it is the top, or one of several
    std::uint32_t cables = 0;   ///< to each parent
    std::uint32_t every = 1;    ///< d of d-mod-k: destinations that follow one another and take the same cable
  };
  std::vector<node> nodes;
  std::vector<int> above;  ///< of each cable: the node at its upper end
};

/// A ring in each dimension. A way goes the shorter way round the first dimension, then the next.
struct torus {
  std::vector<int> sizes;  ///< of each dimension; node x + sizes[0] (y + sizes[1] (z + ...)) is at x, y, z, ...
};

/// Nodes: machines and switches. Cable i between two nodes is the links 2 i and 2 i + 1, one each way: up first; in a
/// torus cable n d + j leads from node n to the next one in dimension j of d. Transfers between two ranks of one node
/// use no link.
struct network {
  std::vector<link> links;
  std::vector<int> node_of{};  ///< the node on which each rank is
  std::variant<levels, torus> ways{};

  int nodes() const;
};

/// A tree, given each node's parent: -1 of the root, of which there is one. Throws std::invalid_argument, saying which
/// node, for what is no tree.
network tree_of(std::span<const int> parent);

/// A fat tree as SimGrid describes it, from the machines up: of each level of switches how many nodes of the next lower
/// level are below a switch, how many switches of it are above such a node, and how many cables join the two.
struct fat_tree_shape {
  std::vector<int> below, above, cables;
};

/// Machines are the nodes from 0 on, the switches above them follow, level by level. Ways up go by the destination
/// (d-mod-k), so that all those to one machine come down the same way; of several cables downward they take the
/// sender's: source mod cables. Throws std::invalid_argument for what is no such shape.
network fat_tree_of(const fat_tree_shape& shape);

/// A torus of these sizes, each from 2 on. Of two ways round that are as long, as in SimGrid, the one that counts up is
/// taken, but down from the middle. Throws std::invalid_argument for other sizes.
network torus_of(std::vector<int> sizes);

/// Of each link: in a tree, how many levels of nodes are below its lower end at most; in a torus its dimension.
std::vector<int> link_levels(const network& of);

/// Throws std::invalid_argument, saying which link or rank, unless links have a capacity and no negative or infinite
/// cost, and every rank of `ranks` is on a node.
void check(const network& of, int ranks);

/// Appends the links of the way from one node to another, in no particular order.
void append_way(const network& of, int from, int to, std::vector<std::uint32_t>& links);

/// What a message finds on its way: the delays together, of the others the most.
struct way_costs {
  double delay = 0, overhead = 0, gap = 0, gap_per_byte = 0;
};
way_costs costs_of(const network& of, std::span<const std::uint32_t> way);
way_costs costs_between(const network& of, int from, int to);

}  // namespace weft::simulator
