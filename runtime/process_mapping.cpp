// SPDX-License-Identifier: Apache-2.0
#include "process_mapping.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <weft/runtime/error.hpp>

namespace weft {
namespace {

struct block {
  int first_node, nodes, processes_each;
};

bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

bool take_number(std::string_view& text, int least, int& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || number < least) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Reads ",(0,2,3)" off the front.
bool take_block(std::string_view& text, block& read) {
  return skip(text, ",(") && take_number(text, 0, read.first_node) && skip(text, ",") &&
         take_number(text, 1, read.nodes) && skip(text, ",") && take_number(text, 1, read.processes_each) &&
         skip(text, ")") && read.first_node <= std::numeric_limits<int>::max() - read.nodes;
}

/// The blocks; none for what is not a whole mapping.
std::vector<block> read_blocks(std::string_view text) {
  std::vector<block> blocks;
  if (!skip(text, "(vector")) return {};
  for (block read; take_block(text, read);) blocks.push_back(read);
  return text == ")" ? blocks : std::vector<block>{};
}

}  // namespace

std::vector<int> read_process_mapping(std::string_view mapping, int processes) {
  const std::vector<block> blocks = read_blocks(mapping);
  if (blocks.empty())
    throw error(errc::protocol,
                "the launcher's PMI_process_mapping, \"" + std::string(mapping.substr(0, 120)) + "\" of " +
                    std::to_string(mapping.size()) +
                    " characters, was cut or changed: \"(vector,(NODE,NODES,PROCESSES),...)\" is meant");
  std::vector<int> nodes;
  const auto count = static_cast<std::size_t>(processes);
  while (nodes.size() < count)
    for (const block& each : blocks)
      for (int node = 0; node < each.nodes && nodes.size() < count; ++node)
        for (int process = 0; process < each.processes_each && nodes.size() < count; ++process)
          nodes.push_back(each.first_node + node);
  return nodes;
}

}  // namespace weft
