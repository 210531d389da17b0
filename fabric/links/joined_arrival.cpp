// SPDX-License-Identifier: Apache-2.0
// What the links report.
#include <algorithm>
#include <cstring>
#include <new>

#include "joined_transport.hpp"

namespace weft::fabric {
namespace {

template <class Part>
Part read(std::span<const std::byte> from, std::size_t at) {
  Part part;
  std::memcpy(&part, from.data() + at, sizeof part);
  return part;
}

}  // namespace

void joined_transport::arrived(int by, std::span<const std::byte> frame) {
  if (frame.size() < sizeof(link_header)) return;
  const auto head = read<link_header>(frame, 0);
  if (head.process >= partners_.size() || head.key != settings_.keys[head.process]) return;
  const int peer = static_cast<int>(head.process);
  partner& there = to(peer);
  if (there.lost) return;
  try {
    if (!there.greeted) greet(peer);
    there.met |= 1u << by;
    take_expected(there, head.expected);
    if (head.word == link_word::greet) return take_greeting(peer, by, head.sequence != 0);
    if (!there.arriving.takes(head.sequence, frame)) return;
    take(peer, frame);
    for (std::vector<std::byte> next; there.arriving.next(next);) take(peer, next);
  } catch (const std::bad_alloc&) {
    user_->broken(peer, std::make_error_code(std::errc::not_enough_memory));
  }
}

/// In its order.
void joined_transport::take(int peer, std::span<const std::byte> frame) {
  const auto head = read<link_header>(frame, 0);
  const auto body = frame.subspan(sizeof head);
  if (head.word == link_word::carried) return user_->arrived(body);
  if (body.size() < sizeof(tag_body)) return;
  partner& there = to(peer);
  const std::uint64_t tag = read<tag_body>(body, 0).tag;
  const bool known = head.link < links_.size() && link(head.link) != nullptr;
  if (head.word == link_word::landed) return take_landed(there, tag);
  if (head.word == link_word::elsewhere && (known || head.link == no_link))
    return take_elsewhere(there, tag, known ? head.link : -1);
  if (head.word == link_word::given_up && known)
    give_up(peer, head.link);
  else if (head.word == link_word::named && known)
    there.their_ends[head.link] = tag;
}

void joined_transport::take_expected(partner& there, std::uint32_t expected) noexcept {
  while (!there.kept.empty() && comes_before(there.kept.front()->sequence, expected)) {
    kept_frame& taken = *there.kept.front();
    there.kept.pop_front();
    taken.over = true;
    if (!taken.posted && !taken.waiting) drop(taken);
  }
}

void joined_transport::take_greeting(int peer, int by, bool asks) {
  partner& there = to(peer);
  if (asks) {
    if (used_.size() > 1 && !is_live(there, by)) return;
    there.to_answer |= 1u << by;
    return want_flush(peer);
  }
  there.asked &= ~(1u << by);
  if (there.answered == clock::time_point{}) there.answered = settings_.time->now();
}

void joined_transport::take_landed(partner& there, std::uint64_t tag) noexcept {
  const auto found = std::ranges::find(there.departing, tag, &moving_payload::tag);
  if (found == there.departing.end()) return;
  moving_payload& payload = **found;
  payload.landed = true;
  if (!payload.posted) end(payload, payload.bytes, {});
}

/// `by`: -1 where it is not to come any more.
void joined_transport::take_elsewhere(partner& there, std::uint64_t tag, int by) {
  const auto found = std::ranges::find(there.departing, tag, &moving_payload::tag);
  if (found == there.departing.end()) {
    if (by < 0)
      there.elsewhere.erase(tag);
    else
      there.elsewhere[tag] = by;
    return;
  }
  moving_payload& payload = **found;
  payload.wanted = by;
  if (by < 0) payload.landed = true;
  if (payload.posted) return;
  if (by < 0)
    end(payload, payload.bytes, {});
  else if (std::ranges::find(moving_, &payload) == moving_.end())
    moving_.push_back(&payload);
}

void joined_transport::done(carried& ended, std::size_t bytes, std::error_code error) {
  ended.posted = false;
  try {
    if (ended.is == carried::what::frame) return frame_done(static_cast<kept_frame&>(ended), error);
    auto& payload = static_cast<moving_payload&>(ended);
    payload.is == carried::what::landing ? landed(payload, bytes, error) : departed(payload, error);
  } catch (const std::bad_alloc&) {
    user_->broken(ended.peer, std::make_error_code(std::errc::not_enough_memory));
  }
}

void joined_transport::frame_done(kept_frame& ended, std::error_code error) {
  busy_[static_cast<std::size_t>(ended.link)] -= ended.bytes.size();
  const bool over = ended.over;
  if (over) drop(ended);
  if (!error) return;
  ended.waiting = !over;
  if (!give_up(ended.peer, ended.link)) return broken(ended.peer, error);
  if (over) return;
  wait_to_leave(ended);
}

void joined_transport::departed(moving_payload& ended, std::error_code error) {
  busy_[static_cast<std::size_t>(ended.link)] -= ended.bytes;
  const int peer = ended.peer, by = ended.link;
  if (ended.landed) return end(ended, ended.bytes, {});
  if (to(peer).lost || (error && !give_up(peer, by))) return end(ended, 0, error);
  if (ended.wanted >= 0) moving_.push_back(&ended);
}

void joined_transport::landed(moving_payload& ended, std::size_t bytes, std::error_code error) {
  const int peer = ended.peer, by = ended.link;
  const std::uint64_t tag = ended.tag;
  if (!error) {
    end(ended, bytes, {});
    return say(peer, link_word::landed, by, tag);
  }
  if (ended.cancelled || to(peer).lost) {
    const bool moved = ended.moved;
    end(ended, 0, error);
    if (moved && !to(peer).lost) say(peer, link_word::elsewhere, no_link, tag);
    return;
  }
  if (!give_up(peer, by)) return end(ended, 0, error);
  moving_.push_back(&ended);
}

}  // namespace weft::fabric
