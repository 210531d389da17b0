// Connections: each pair of processes has one, which the lower one opens.
#include <algorithm>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

/// What the rings of all peers together may take, unless each would get less than four of the longest frames.
constexpr std::size_t ring_budget = 16 << 20;

}  // namespace

/// What the network can do is known only now.
void engine::keep_within(const transport_limits& limits) {
  frame_limit_ = std::max(std::min(limits.frame, frame_limit_), sizeof(header) + 64);
  settings_.eager_limit = frame_limit_ - sizeof(header);
  settings_.piece = std::min({settings_.piece, limits.payload, std::size_t{1} << 31});
}

void engine::start(std::span<const address> endpoints) {
  keep_within(network_->limits());
  const std::size_t others = peers_.size() - 1;
  std::size_t each = settings_.credit;
  if (others != 0) each = std::min(each, ring_budget / others);
  each = std::max(each, 4 * frame_limit_);
  credit_of_each_ = static_cast<std::int64_t>(each / credit_unit);
  // A provider gives a ring's memory back a part at a time, hence the third more.
  network_->start(endpoints, others * (each + each / 3 + 16 * sizeof(header)) + 8 * frame_limit_);
  inject_limit_ = std::min(network_->limits().inject, frame_limit_);
  peers_[static_cast<std::size_t>(settings_.process)]->connected = true;
  for (std::size_t i = static_cast<std::size_t>(settings_.process) + 1; i < peers_.size(); ++i) {
    header hello;
    hello.kind = message_kind::hello;
    hello.source = 1;
    hello.length = static_cast<std::uint64_t>(credit_of_each_);
    send_control(*peers_[i], hello);
  }
}

bool engine::connected() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& each) { return each->connected; });
}

std::string engine::missing() const {
  std::string list;
  for (const auto& each : peers_)
    if (!each->connected) list += (list.empty() ? "" : ", ") + std::to_string(each->process);
  return list;
}

void engine::name_connections() {
  const std::vector<std::uint64_t> ends = network_->connection_ends();
  for (std::size_t i = static_cast<std::size_t>(settings_.process) + 1; i < ends.size(); ++i) {
    if (ends[i] == 0) continue;
    header name;
    name.kind = message_kind::hello;
    name.source = 2;
    name.detail = ends[i];
    send_control(*peers_[i], name);
  }
}

}  // namespace weft::fabric
