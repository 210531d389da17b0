// SPDX-License-Identifier: Apache-2.0
#include <weft/schedules/step_names.hpp>

namespace weft::schedules {

std::string_view name(step_kind kind) {
  switch (kind) {
    case step_kind::send:
      return "send";
    case step_kind::receive:
      return "receive";
    case step_kind::copy:
      return "copy";
    case step_kind::combine:
      return "combine";
    case step_kind::notify:
      return "notify";
    case step_kind::await:
      return "await";
  }
  return "";
}

std::string_view name(buffer in) {
  switch (in) {
    case buffer::input:
      return "input";
    case buffer::output:
      return "output";
    case buffer::scratch:
      return "scratch";
    case buffer::work:
      return "work";
    case buffer::board:
      return "board";
  }
  return "";
}

std::string text_of(block_range blocks) {
  if (blocks.count == 0) return "-";
  const std::string first = std::to_string(blocks.first);
  return blocks.count == 1 ? first : first + "-" + std::to_string(blocks.first + blocks.count - 1);
}

std::string text_of(const segment& part) {
  std::string text(name(part.in));
  if (has_slots(part.in)) text += "[" + std::to_string(part.slot) + "]";
  text += " " + text_of(part.elements);
  if (part.owner != me) text += " of rank " + std::to_string(part.owner);
  return text;
}

std::string_view preposition(step_kind kind) {
  switch (kind) {
    case step_kind::send:
    case step_kind::notify:
      return "to ";
    case step_kind::receive:
    case step_kind::await:
      return "from ";
    case step_kind::copy:
    case step_kind::combine:
      break;
  }
  return "";
}

}  // namespace weft::schedules
