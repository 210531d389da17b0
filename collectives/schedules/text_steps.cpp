// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <weft/schedules/step_names.hpp>
#include <weft/schedules/step_writers.hpp>

namespace weft::schedules {
namespace {

std::string joined(std::span<const segment> parts, std::string_view between) {
  std::string text;
  for (const segment& part : parts) {
    if (!text.empty()) text += between;
    text += text_of(part);
  }
  return text;
}

void pad(std::string& text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
}

}  // namespace

void text_steps::begin(const layout&) { next_ = 0; }

step_index text_steps::emit(step_kind kind, std::int32_t peer, std::span<const segment> sources,
                            std::span<const segment> targets, std::span<const step_index> after) {
  std::string line = std::to_string(next_);
  if (line.size() < 6) line.insert(0, 6 - line.size(), ' ');
  line.append("  ").append(name(kind));
  const bool message = !preposition(kind).empty();
  if (message) {
    pad(line, 17);
    line.append(preposition(kind)).append(std::to_string(peer));
  }
  if (message) line += "  ";
  pad(line, message ? 26 : 17);
  line += joined(sources, kind == step_kind::combine ? " + " : ", ");
  if (!targets.empty()) line += (sources.empty() ? "-> " : " -> ") + joined(targets, ", ");
  if (!after.empty()) {
    line += "  after";
    for (const step_index before : after) line += " " + std::to_string(before);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  write_(line + "\n");
  return next_++;
}

}  // namespace weft::schedules
