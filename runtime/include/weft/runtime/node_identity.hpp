// What tells whether two processes live on one node.
#pragma once

#include <string>

namespace weft {

/// The same for all processes of a node: the running kernel's boot id and the network namespace. Two containers of one
/// machine that have a network of their own each are two nodes, since nothing that listens on loopback or on an abstract
/// Unix socket of the one can be reached from the other.
std::string node_identity();

}  // namespace weft
