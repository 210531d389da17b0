// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

std::string draw(const tree& of, const std::function<std::string(int rank)>& label) {
  struct line {
    int rank;
    std::size_t depth;
    bool last;
  };
  std::string text;
  std::string indent;  // of the children of the rank just drawn, four characters a level
  std::vector<line> to_draw{{of.root(), 0, true}};
  while (!to_draw.empty()) {
    const line next = to_draw.back();
    to_draw.pop_back();
    if (next.depth > 0) {
      indent.resize(4 * (next.depth - 1));
      text += indent + (next.last ? "`-- " : "|-- ");
      indent += next.last ? "    " : "|   ";
    }
    text += label(next.rank) + '\n';
    const auto children = of.children(next.rank);
    for (std::size_t i = children.size(); i-- > 0;)
      to_draw.push_back({children[i], next.depth + 1, i + 1 == children.size()});
  }
  return text;
}

std::string draw(const tree& of) {
  return draw(of, [](int rank) { return std::to_string(rank); });
}

}  // namespace weft::schedules
