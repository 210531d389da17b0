// SPDX-License-Identifier: Apache-2.0
// Links that are given up, and what was on them.
//
// The receiver of a payload is who says by which link it comes instead: only it knows what has landed, and it has to
// have its memory back from the old link before it posts it on another.
//
//   sender of a payload                         its receiver
//     ---given up: link 1 (frame, by link 0)-->   takes back what is posted on link 1, breaks that connection,
//                                                 posts it on link 0
//     <--elsewhere: the payload, by link 0-----
//     ---payload (link 0)---------------------->
#include <chrono>
#include <utility>

#include "joined_transport.hpp"

namespace weft::fabric {
namespace {

constexpr std::chrono::milliseconds between_looks{50};

/// Who has taken nothing for so long is asked over all links.
constexpr std::chrono::seconds between_looks_at_progress{1};

/// So much later than over one link an answer may come over another.
constexpr std::chrono::seconds longest_lag{5};

}  // namespace

/// False where it is the last one, which is kept.
bool joined_transport::give_up(int peer, int number) {
  partner& there = to(peer);
  if (!is_live(there, number)) return true;
  const std::uint32_t rest = there.live & ~(1u << number);
  if (rest == 0 || there.lost) return false;
  there.live = rest;
  for (std::uint32_t* const greetings : {&there.to_ask, &there.to_answer, &there.asked}) *greetings &= rest;
  if (settings_.given_up) settings_.given_up(peer, number);
  say(peer, link_word::given_up, number);
  // Frames, but for those that wait already: a link that has one still may never give it back, so a copy goes.
  for (kept_frame*& each : there.kept) {
    if (each->link != number || each->waiting) continue;
    if (each->posted) {
      const auto whole = std::span<const std::byte>(each->bytes);
      kept_frame& copy = make_frame(peer, link_word::carried, 0, each->sequence, whole.subspan(sizeof(link_header)));
      copy.bytes.assign(whole.begin(), whole.end());
      std::exchange(each, &copy)->over = true;
    }
    wait_to_leave(*each);
  }
  for (moving_payload* const each : there.landing)
    if (each->posted && each->link == number) link(number)->cancel(*each);
  link(number)->cut(peer, there.their_ends[static_cast<std::size_t>(number)]);
  return true;
}

/// By the last link.
void joined_transport::broken(int peer, std::error_code error) {
  if (to(peer).lost) return;
  lose(peer);
  user_->broken(peer, error);
}

void joined_transport::look_at_links() {
  if (used_.size() < 2) return;
  const auto now = settings_.time->now();
  if (now < next_look_) return;
  next_look_ = now + between_looks;
  if (settings_.works) look_at_interfaces();
  if (now < next_look_at_progress_) return;
  next_look_at_progress_ = now + between_looks_at_progress;
  for (int peer = 0; peer < std::ssize(partners_); ++peer) look_at_progress(peer, now);
}

void joined_transport::look_at_interfaces() {
  for (const int each : used_) {
    if ((down_ >> each & 1) != 0 || settings_.works(each)) continue;
    down_ |= 1u << each;
    for (int peer = 0; peer < std::ssize(partners_); ++peer)
      if (to(peer).greeted) give_up(peer, each);
  }
}

/// A link may fail where neither side sees it. So a peer that takes nothing is asked over all links; one by which no
/// answer comes, long after one has by another, is given up. A peer that does not poll answers by none.
void joined_transport::look_at_progress(int peer, clock::time_point now) {
  partner& there = to(peer);
  if (there.lost || !there.greeted || (there.live & (there.live - 1)) == 0) return;
  const std::uint64_t frame = there.kept.empty() ? 0 : std::uint64_t{there.kept.front()->sequence} + 1;
  const std::uint64_t payload = there.departing.empty() ? 0 : ~there.departing.front()->tag;
  const std::uint64_t stuck = frame ^ payload;
  const bool moved = std::exchange(there.stuck, stuck) != stuck;
  if (there.asked == 0) {
    if (moved || stuck == 0) return;
    there.asked = there.to_ask = there.live;
    there.answered = {};
    return want_flush(peer);
  }
  if (there.answered == clock::time_point{} || now < there.answered + longest_lag) return;
  const std::uint32_t silent = std::exchange(there.asked, 0);
  for (const int each : used_)
    if ((silent >> each & 1) != 0) give_up(peer, each);
}

joined_transport::posting joined_transport::post_or_break(moving_payload& payload, int by) {
  const int peer = payload.peer;
  try {
    return post(payload, by);
  } catch (const error& failure) {
    broken(peer, failure.code());
    return posting::gone;
  }
}

/// Those that wait for a link. What is to land goes first, since nothing may be sent that is not expected.
void joined_transport::move_payloads() {
  for (std::size_t i = 0; i < moving_.size();) {
    moving_payload& payload = *moving_[i];
    partner& there = to(payload.peer);
    if (there.lost) {
      end(payload, 0, std::make_error_code(std::errc::connection_aborted));
      continue;
    }
    const bool lands = payload.is == carried::what::landing;
    const int by = lands ? link_of(there.live, payload.tag) : std::exchange(payload.wanted, -1);
    // A payload whose link has been given up since waits until its receiver names another.
    const posting result = lands || is_live(there, by) ? post_or_break(payload, by) : posting::gone;
    if (there.lost) {  // and its idle payloads are gone
      i = 0;
      continue;
    }
    if (result == posting::refused) {
      if (!lands) payload.wanted = by;
      ++i;
      continue;
    }
    if (result == posting::gone && lands) continue;  // by another one
    moving_.erase(moving_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!lands) continue;
    payload.moved = true;
    say(payload.peer, link_word::elsewhere, by, payload.tag);
  }
}

}  // namespace weft::fabric
