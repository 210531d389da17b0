// SPDX-License-Identifier: Apache-2.0
#include "loopback_mailbox.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <weft/runtime/copy_bytes.hpp>

namespace weft::fabric {
namespace {

bool held_back(std::mt19937_64* jitter) { return jitter != nullptr && ((*jitter)() & 1) != 0; }

[[noreturn]] void refuse(int from, std::uint64_t tag, std::size_t bytes, const std::string& why) {
  throw std::logic_error("loopback: a payload of " + std::to_string(bytes) + " bytes from endpoint " +
                         std::to_string(from) + " under tag " + std::to_string(tag) + " " + why);
}

}  // namespace

loopback_mailbox::loopback_mailbox(int endpoints, std::size_t queue, std::size_t receives)
    : queue_(queue),
      most_receives_(receives),
      on_the_way_(static_cast<std::size_t>(endpoints)),
      killed_(on_the_way_.size()) {}

loopback_post loopback_mailbox::put_frame(int from, std::span<const std::byte> frame, transfer* context) {
  const std::lock_guard lock(mutex_);
  if (killed_[from]) return loopback_post::yes;
  if (on_the_way_[from] == queue_) return loopback_post::busy;
  ++on_the_way_[from];
  if (dead_) return loopback_post::vanished;
  if (context != nullptr) {
    frames_.push_back({from, {}, frame, context});
  } else {
    frames_.push_back({from, {frame.begin(), frame.end()}, {}, nullptr});
  }
  return loopback_post::yes;
}

loopback_post loopback_mailbox::put_payload(int from, std::uint64_t tag, std::span<const std::byte> bytes,
                                            transfer& context) {
  const std::lock_guard lock(mutex_);
  if (killed_[from]) return loopback_post::yes;
  if (on_the_way_[from] == queue_) return loopback_post::busy;
  if (!dead_) {
    const auto receive = std::find_if(receives_.begin(), receives_.end(), [&](const receive_entry& entry) {
      return entry.from == from && entry.tag == tag && entry.sender == nullptr;
    });
    if (receive == receives_.end()) refuse(from, tag, bytes.size(), "was sent before a receive was posted for it");
    if (receive->memory.size() < bytes.size()) {
      refuse(from, tag, bytes.size(),
             "is longer than the receive posted for it (" + std::to_string(receive->memory.size()) + " bytes)");
    }
    receive->sender = &context;
    receive->incoming = bytes;
  }
  ++on_the_way_[from];
  return dead_ ? loopback_post::vanished : loopback_post::yes;
}

void loopback_mailbox::put_completion(transfer& ended, std::size_t bytes, std::error_code error) {
  const std::lock_guard lock(mutex_);
  if (dead_) return;
  loopback_event& event = completions_.emplace_back();
  event.ended = &ended;
  event.bytes = bytes;
  event.error = error;
}

bool loopback_mailbox::post_receive(int from, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) {
  const std::lock_guard lock(mutex_);
  if (dead_) return true;
  if (receives_.size() >= most_receives_) return false;
  receives_.push_back({from, tag, bytes, &context, nullptr, {}});
  return true;
}

void loopback_mailbox::cancel(transfer& context) {
  const std::lock_guard lock(mutex_);
  const auto receive = std::find_if(receives_.begin(), receives_.end(),
                                    [&](const receive_entry& entry) { return entry.context == &context; });
  if (receive == receives_.end() || receive->sender != nullptr) return;
  receives_.erase(receive);
  loopback_event& event = completions_.emplace_back();
  event.ended = &context;
  event.error = std::make_error_code(std::errc::operation_canceled);
}

void loopback_mailbox::collect(std::vector<loopback_event>& found, std::mt19937_64* jitter) {
  const std::lock_guard lock(mutex_);
  if (dead_) return;
  collect_completions(found, jitter);
  collect_frames(found, jitter);
  collect_payloads(found, jitter);
}

void loopback_mailbox::collect_frames(std::vector<loopback_event>& found, std::mt19937_64* jitter) {
  if (frames_.empty()) return;
  std::vector<bool> stopped(jitter != nullptr ? killed_.size() : 0);  // a held frame holds those behind it
  std::deque<frame_entry> kept;
  for (frame_entry& entry : frames_) {
    if (jitter != nullptr && (stopped[entry.from] || held_back(jitter))) {
      stopped[entry.from] = true;
      kept.push_back(std::move(entry));
      continue;
    }
    --on_the_way_[entry.from];
    loopback_event& event = found.emplace_back();
    event.frame = std::move(entry.copy);
    if (entry.context != nullptr) event.frame.assign(entry.bytes.begin(), entry.bytes.end());
    event.bytes = event.frame.size();
    event.sender = entry.context;
    event.from = entry.from;
  }
  frames_ = std::move(kept);
}

void loopback_mailbox::collect_payloads(std::vector<loopback_event>& found, std::mt19937_64* jitter) {
  std::erase_if(receives_, [&](const receive_entry& entry) {
    if (entry.sender == nullptr || held_back(jitter)) return false;
    copy_bytes(entry.memory.data(), entry.incoming.data(), entry.incoming.size());
    --on_the_way_[entry.from];
    loopback_event& event = found.emplace_back();
    event.ended = entry.context;
    event.bytes = entry.incoming.size();
    event.sender = entry.sender;
    event.from = entry.from;
    return true;
  });
}

void loopback_mailbox::collect_completions(std::vector<loopback_event>& found, std::mt19937_64* jitter) {
  std::erase_if(completions_, [&](loopback_event& event) {
    if (held_back(jitter)) return false;
    found.push_back(std::move(event));
    return true;
  });
}

void loopback_mailbox::forget(int from, bool killed) {
  const std::lock_guard lock(mutex_);
  if (killed) killed_[from] = true;
  const std::size_t dropped = std::erase_if(
      frames_, [&](const frame_entry& entry) { return entry.from == from && (killed || entry.context != nullptr); });
  on_the_way_[from] -= dropped;
  for (receive_entry& entry : receives_) {
    if (entry.from != from || entry.sender == nullptr) continue;
    entry.sender = nullptr;
    --on_the_way_[from];
  }
}

std::vector<loopback_event> loopback_mailbox::cut(int from) {
  const std::lock_guard lock(mutex_);
  std::vector<loopback_event> sent;
  std::erase_if(receives_, [&](const receive_entry& entry) {
    if (entry.from != from) return false;
    loopback_event& event = completions_.emplace_back();
    event.ended = entry.context;
    event.error = std::make_error_code(std::errc::connection_aborted);
    if (entry.sender == nullptr) return true;
    --on_the_way_[entry.from];
    loopback_event& end = sent.emplace_back();
    end.from = from;
    end.sender = entry.sender;
    end.bytes = entry.incoming.size();
    return true;
  });
  return sent;
}

std::vector<loopback_event> loopback_mailbox::die() {
  const std::lock_guard lock(mutex_);
  dead_ = true;
  std::vector<loopback_event> sent;
  const auto hand_out = [&](int from, transfer* sender, std::size_t bytes) {
    if (sender == nullptr) return;
    loopback_event& event = sent.emplace_back();
    event.from = from;
    event.sender = sender;
    event.bytes = bytes;
  };
  for (const frame_entry& entry : frames_) hand_out(entry.from, entry.context, entry.bytes.size());
  for (const receive_entry& entry : receives_) hand_out(entry.from, entry.sender, entry.incoming.size());
  frames_.clear();
  receives_.clear();
  completions_.clear();
  return sent;
}

}  // namespace weft::fabric
