// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <weft/schedules/step_names.hpp>
#include <weft/schedules/step_writers.hpp>

namespace weft::schedules {
namespace {

std::string object(const segment& part) {
  std::string text = "{\"in\": \"" + std::string(name(part.in)) + "\"";
  if (has_slots(part.in)) text += ", \"slot\": " + std::to_string(part.slot);
  if (part.owner != me) text += ", \"owner\": " + std::to_string(part.owner);
  return text + ", \"first\": " + std::to_string(part.elements.first) +
         ", \"count\": " + std::to_string(part.elements.count) + "}";
}
std::string object(step_index step) { return std::to_string(step); }

template <class T>
void list(std::string& text, const char* key, std::span<const T> items) {
  if (items.empty()) return;
  text += std::string(", \"") + key + "\": [";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + object(items[i]);
  text += "]";
}

}  // namespace

void json_steps::begin(const layout& cut) {
  cut_ = cut;
  ordinals_ = {};
  next_ = 0;
}

step_index json_steps::emit(step_kind kind, std::int32_t peer, std::span<const segment> sources,
                            std::span<const segment> targets, std::span<const step_index> after) {
  std::string text = next_ > 0 ? ",\n  " : "\n  ";
  text += "{\"step\": " + std::to_string(next_) + ", \"kind\": \"" + std::string(name(kind)) + "\"";
  if (!preposition(kind).empty())
    text += ", \"peer\": " + std::to_string(peer) + ", \"ordinal\": " + std::to_string(ordinals_.next(kind, peer));
  if (bytes_ && kind != step_kind::notify && kind != step_kind::await) {
    std::size_t bytes = 0;
    for (const segment& part : kind == step_kind::send ? sources : targets) bytes += bytes_->count(cut_, part.elements);
    text += ", \"bytes\": " + std::to_string(bytes);
  }
  list(text, "sources", sources);
  list(text, "targets", targets);
  list(text, "after", after);
  write_(text + "}");
  return next_++;
}

}  // namespace weft::schedules
