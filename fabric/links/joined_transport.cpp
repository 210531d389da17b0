// SPDX-License-Identifier: Apache-2.0
#include "joined_transport.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <weft/runtime/error.hpp>

namespace weft::fabric {

static_assert(sizeof(link_header) == joined_overhead);

namespace {

/// Frames that are longer are kept apart from the others, so that short ones do not hold their memory.
constexpr std::size_t short_frame = 512;

/// The longest that the messenger copies to inject it.
constexpr std::size_t longest_injected = 4 << 10;

/// Payloads to one peer that have not landed: each is answered by a frame, which has to find room.
constexpr std::size_t most_departing = 64;

template <class List>
void grow(List& list, std::size_t to) {
  if (list.capacity() < to) list.reserve(2 * to);
}

}  // namespace

joined_transport::joined_transport(std::vector<std::unique_ptr<transport>> links, joined_links_settings settings)
    : links_(std::move(links)), settings_(std::move(settings)), used_{0}, busy_(links_.size()) {
  if (links_.empty() || links_.size() > most_links) throw std::logic_error("join_links: 1 to 16 links are joined");
  events_.reserve(links_.size());
  for (int i = 0; i < std::ssize(links_); ++i) events_.emplace_back(*this, i);
  limit();
}

/// Before what they work on.
joined_transport::~joined_transport() {
  for (auto& each : links_) each.reset();
}

void joined_transport::limit() {
  limits_ = link(0)->limits();
  for (const int each : used_) {
    const transport_limits& its = link(each)->limits();
    limits_.frame = std::min(limits_.frame, its.frame);
    limits_.payload = std::min(limits_.payload, its.payload);
    limits_.receives = std::min(limits_.receives, its.receives);
    limits_.tag_mask &= its.tag_mask;
  }
  limits_.frame -= sizeof(link_header);
  limits_.inject = std::min(longest_injected, limits_.frame);
  limits_.links = used_.size();
  limits_.in_turn = false;  // one may have to wait for the word by which link it is to come
}

/// Those of the links, each behind its length.
address joined_transport::local_address() const {
  address all;
  for (const auto& each : links_) {
    const address one = each->local_address();
    const auto size = static_cast<std::uint16_t>(one.size());
    const auto length = std::as_bytes(std::span(&size, 1));
    all.insert(all.end(), length.begin(), length.end());
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void joined_transport::start(std::span<const address> peers, std::size_t receive_bytes) {
  std::vector<std::vector<address>> by_link(links_.size());
  for (const address& each : peers) {
    std::span<const std::byte> rest(each);
    for (auto& addresses : by_link) {
      std::uint16_t size = 0;
      if (rest.size() >= sizeof size) std::memcpy(&size, rest.data(), sizeof size);
      if (size == 0 || rest.size() < sizeof size + size)
        throw error(errc::incompatible, "a process has fewer links than this one's " + std::to_string(links_.size()) +
                                            ": give every process the same WEFT_ENDPOINTS");
      addresses.emplace_back(rest.begin() + sizeof size, rest.begin() + sizeof size + size);
      rest = rest.subspan(sizeof size + size);
    }
  }
  partners_.resize(peers.size());
  flush_wanted_.resize(peers.size());
  for (partner& each : partners_) each.their_ends.resize(links_.size());
  // Of each frame there is a header more, and of each payload an answer.
  const std::size_t answers = peers.size() * most_departing * 64;
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->start(by_link[i], receive_bytes / 2 * 3 + answers);
}

kept_frame& joined_transport::make_frame(int peer, link_word word, int about, std::uint32_t sequence,
                                         std::span<const std::byte> body) {
  const std::size_t size = sizeof(link_header) + body.size();
  stock<kept_frame>& alike = frames_of(size);
  kept_frame& made = alike.take();
  try {
    made.bytes.resize(size);
  } catch (...) {
    alike.give_back(made);
    throw;
  }
  const link_header head{settings_.keys[static_cast<std::size_t>(settings_.process)],
                         static_cast<std::uint32_t>(settings_.process),
                         sequence,
                         0,
                         word,
                         static_cast<std::uint16_t>(about)};
  std::memcpy(made.bytes.data(), &head, sizeof head);
  if (!body.empty()) std::memcpy(made.bytes.data() + sizeof head, body.data(), body.size());
  made.is = carried::what::frame;
  made.posted = made.over = made.waiting = false;
  made.peer = peer;
  made.link = -1;
  made.sequence = sequence;
  return made;
}

stock<kept_frame>& joined_transport::frames_of(std::size_t bytes) noexcept {
  return bytes <= short_frame ? short_frames_ : long_frames_;
}

void joined_transport::drop(kept_frame& unneeded) noexcept { frames_of(unneeded.bytes.size()).give_back(unneeded); }

int joined_transport::least_busy(const partner& there) const noexcept {
  int best = is_live(there, there.last_link) ? there.last_link : -1;
  for (const int each : used_)
    if (is_live(there, each) &&
        (best < 0 || busy_[static_cast<std::size_t>(each)] < busy_[static_cast<std::size_t>(best)]))
      best = each;
  return best;
}

/// By turns: the pieces of a message have tags that count them from bit 32 on, and messages have other lower bits.
int joined_transport::link_of(std::uint32_t among, std::uint64_t tag) noexcept {
  const auto turn = ((tag >> 32) + (tag & 0xffffffff)) % static_cast<unsigned>(std::popcount(among));
  for (auto left = turn; left > 0; --left) among &= among - 1;
  return std::countr_zero(among);
}

joined_transport::posting joined_transport::post(kept_frame& frame, int by) {
  const std::uint32_t expected = to(frame.peer).arriving.expected();
  std::memcpy(frame.bytes.data() + offsetof(link_header, expected), &expected, sizeof expected);
  const posting result = attempt(frame.peer, by, [&] { return link(by)->send(frame.peer, frame.bytes, frame); });
  if (result != posting::taken) return result;
  frame.posted = true;
  frame.link = by;
  busy_[static_cast<std::size_t>(by)] += frame.bytes.size();
  return result;
}

/// Any link that takes it.
bool joined_transport::transmit(kept_frame& frame) {
  partner& there = to(frame.peer);
  std::uint32_t tried = 0;
  for (int by = least_busy(there); by >= 0;) {
    if (post(frame, by) == posting::taken) {
      there.last_link = by;
      return true;
    }
    tried |= 1u << by;
    const auto other =
        std::ranges::find_if(used_, [&](int each) { return is_live(there, each) && (tried >> each & 1) == 0; });
    by = other == used_.end() ? -1 : *other;
  }
  return false;
}

/// The next one to that peer, kept until it has been taken.
kept_frame& joined_transport::keep_frame(int peer, link_word word, int about, std::span<const std::byte> body) {
  partner& there = to(peer);
  kept_frame& made = make_frame(peer, word, about, there.next, body);
  try {
    there.kept.push_back(&made);
  } catch (...) {
    drop(made);
    throw;
  }
  ++there.next;
  return made;
}

void joined_transport::wait_to_leave(kept_frame& frame) {
  frame.waiting = true;
  to(frame.peer).unsent.push_back(&frame);
  want_flush(frame.peer);
}

bool joined_transport::inject(int peer, std::span<const std::byte> frame) {
  partner& there = to(peer);
  if (!there.greeted) greet(peer);
  kept_frame& made = keep_frame(peer, link_word::carried, 0, frame);
  const auto undo = [&] {
    if (there.kept.back() != &made) return false;  // another one has come behind it
    there.kept.pop_back();
    --there.next;
    drop(made);
    return true;
  };
  try {
    if (transmit(made)) [[likely]]
      return true;
  } catch (...) {
    if (!undo()) wait_to_leave(made);
    throw;
  }
  if (undo()) return false;
  wait_to_leave(made);
  return true;
}

bool joined_transport::send(int peer, std::span<const std::byte> frame, transfer& context) {
  reserve_endings(1);
  if (!inject(peer, frame)) return false;
  ended_.push_back({&context, frame.size(), {}});
  return true;
}

void joined_transport::say(int peer, link_word word, int about, std::uint64_t tag) {
  const tag_body body{tag};
  wait_to_leave(keep_frame(peer, word, about, std::as_bytes(std::span(&body, 1))));
}

void joined_transport::greet(int peer) {
  partner& there = to(peer);
  there.greeted = true;
  if (peer == settings_.process) there.met = (1u << links_.size()) - 1;
  if (peer <= settings_.process || used_.size() > 1) return;  // the lower one opens connections, once
  there.to_ask = (1u << links_.size()) - 2;
  want_flush(peer);
}

void joined_transport::send_greetings(int peer) {
  partner& there = to(peer);
  for (std::uint32_t* const mask : {&there.to_ask, &there.to_answer})
    for (int by = 0; *mask >> by != 0; ++by) {
      if ((*mask >> by & 1) == 0) continue;
      const bool gone = link(by) == nullptr;
      if (gone || send_greeting(peer, by, mask == &there.to_ask)) *mask &= ~(1u << by);
    }
}

bool joined_transport::send_greeting(int peer, int by, bool asks) {
  kept_frame& greeting = make_frame(peer, link_word::greet, by, asks ? 1 : 0, {});
  greeting.over = true;
  const bool taken = post(greeting, by) == posting::taken;
  if (!taken) drop(greeting);
  return taken;
}

void joined_transport::want_flush(int peer) {
  if (flush_wanted_[static_cast<std::size_t>(peer)]) return;
  unflushed_.push_back(peer);
  flush_wanted_[static_cast<std::size_t>(peer)] = true;
}

/// Whether nothing is left to be sent.
bool joined_transport::flush(int peer) {
  partner& there = to(peer);
  if ((there.to_ask | there.to_answer) != 0) send_greetings(peer);
  while (!there.unsent.empty()) {
    kept_frame& first = *there.unsent.front();
    if (!first.over && !transmit(first)) return false;
    there.unsent.pop_front();
    first.waiting = false;
    if (first.over && !first.posted) drop(first);
  }
  return (there.to_ask | there.to_answer) == 0;
}

void joined_transport::flush() {
  for (const int peer : std::exchange(unflushed_, {})) {
    flush_wanted_[static_cast<std::size_t>(peer)] = false;
    try {
      if (!to(peer).lost && !flush(peer)) want_flush(peer);
    } catch (const error& failure) {
      broken(peer, failure.code());
    }
  }
}

void joined_transport::begin(moving_payload& payload, carried::what is, int peer, std::uint64_t tag, std::byte* data,
                             std::size_t bytes, transfer& user) noexcept {
  payload.is = is;
  payload.posted = payload.landed = payload.cancelled = payload.moved = false;
  payload.peer = peer;
  payload.link = payload.wanted = -1;
  payload.user = &user;
  payload.tag = tag;
  payload.data = data;
  payload.bytes = bytes;
  moving_payload* const named = &payload;
  std::memcpy(user.provider_space, &named, sizeof named);
  ++underway_;
}

/// One that no link has taken.
void joined_transport::forget(moving_payload& payload) noexcept {
  std::memset(payload.user->provider_space, 0, sizeof(moving_payload*));
  --underway_;
  payloads_.give_back(payload);
}

joined_transport::posting joined_transport::post(moving_payload& payload, int by) {
  const bool lands = payload.is == carried::what::landing;
  const posting result = attempt(payload.peer, by, [&] {
    const std::span<std::byte> bytes(payload.data, payload.bytes);
    return lands ? link(by)->receive_payload(payload.peer, payload.tag, bytes, payload)
                 : link(by)->send_payload(payload.peer, payload.tag, bytes, payload);
  });
  if (result != posting::taken) return result;
  payload.posted = true;
  payload.link = by;
  if (!lands) busy_[static_cast<std::size_t>(by)] += payload.bytes;
  return result;
}

/// A new one, which is forgotten where it is refused, or the last link fails.
joined_transport::posting joined_transport::try_to_post(moving_payload& payload, int by) {
  if (!is_live(to(payload.peer), by)) return posting::gone;
  try {
    const posting result = post(payload, by);
    if (result == posting::refused) forget(payload);
    return result;
  } catch (...) {
    forget(payload);
    throw;
  }
}

/// Its user is told with the next poll's end.
void joined_transport::end(moving_payload& payload, std::size_t bytes, std::error_code error) noexcept {
  partner& there = to(payload.peer);
  std::erase(payload.is == carried::what::landing ? there.landing : there.departing, &payload);
  std::erase(moving_, &payload);
  ended_.push_back({payload.user, bytes, error});
  forget(payload);
}

/// So that nothing has to be allocated where it ends, or has to move.
void joined_transport::reserve_for_one(std::vector<moving_payload*>& among) {
  grow(among, among.size() + 1);
  grow(moving_, underway_ + 1);
  reserve_endings(1);
}

void joined_transport::reserve_endings(std::size_t more) {
  const std::size_t all = std::max(ended_.size(), reported_.size()) + underway_ + more;
  grow(ended_, all);
  grow(reported_, all);
}

bool joined_transport::send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) {
  partner& there = to(peer);
  if (there.departing.size() >= most_departing) return false;
  reserve_for_one(there.departing);
  moving_payload& made = payloads_.take();
  context.receiving = false;
  begin(made, carried::what::departing, peer, tag, const_cast<std::byte*>(bytes.data()), bytes.size(), context);
  const auto told = there.elsewhere.find(tag);
  const int by = told != there.elsewhere.end() ? told->second : link_of(kept_, tag);
  // What was to take a link that is given up waits until its receiver says by which it is to come.
  if (const posting result = try_to_post(made, by); result == posting::refused) return false;
  if (told != there.elsewhere.end()) there.elsewhere.erase(told);
  there.departing.push_back(&made);
  return true;
}

bool joined_transport::receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) {
  partner& there = to(peer);
  reserve_for_one(there.landing);
  moving_payload& made = payloads_.take();
  context.receiving = true;
  begin(made, carried::what::landing, peer, tag, bytes.data(), bytes.size(), context);
  const int by = link_of(kept_, tag);
  const posting result = try_to_post(made, by);
  if (result == posting::refused) return false;
  there.landing.push_back(&made);
  if (result == posting::gone) moving_.push_back(&made);  // the next poll moves it
  return true;
}

void joined_transport::cancel(transfer& context) {
  moving_payload* payload = nullptr;
  std::memcpy(&payload, context.provider_space, sizeof payload);
  if (payload == nullptr) return;  // it has ended
  payload->cancelled = true;
  if (payload->posted) return link(payload->link)->cancel(*payload);
  const int peer = payload->peer;
  const std::uint64_t tag = payload->tag;
  const bool moved = payload->moved;
  end(*payload, 0, std::make_error_code(std::errc::operation_canceled));
  if (moved && !to(peer).lost) say(peer, link_word::elsewhere, no_link, tag);
}

void joined_transport::cut(int peer, std::uint64_t) noexcept {
  for (const int each : used_) link(each)->cut(peer, to(peer).their_ends[static_cast<std::size_t>(each)]);
  lose(peer);
}

/// Nothing passes any more; what no link has ends now.
void joined_transport::lose(int peer) noexcept {
  partner& there = to(peer);
  there.lost = true;
  const auto end_idle = [&](std::vector<moving_payload*>& all) {
    for (std::size_t i = all.size(); i-- > 0;)
      if (!all[i]->posted) end(*all[i], 0, std::make_error_code(std::errc::connection_aborted));
  };
  end_idle(there.departing);
  end_idle(there.landing);
}

std::uint32_t joined_transport::links_in_contact() const {
  std::uint32_t all = (1u << links_.size()) - 1;
  for (const partner& each : partners_)
    if (each.greeted) all &= each.met & ~each.to_answer;
  return all;
}

void joined_transport::keep_links(std::uint32_t kept) {
  kept_ = (kept | 1) & ((1u << links_.size()) - 1);
  used_.clear();
  for (int i = 0; i < std::ssize(links_); ++i)
    if ((kept_ >> i & 1) != 0)
      used_.push_back(i);
    else
      links_[static_cast<std::size_t>(i)].reset();
  limit();
  for (partner& each : partners_) each.live = kept_;
  for (const int by : used_) {
    const std::vector<std::uint64_t> ends = link(by)->settle_connections();
    for (int peer = settings_.process + 1; peer < std::ssize(ends); ++peer)
      if (const std::uint64_t end = ends[static_cast<std::size_t>(peer)]; end != 0 && to(peer).greeted)
        say(peer, link_word::named, by, end);
  }
}

std::size_t joined_transport::report_ended(receiver& user) {
  reported_.swap(ended_);
  const std::size_t count = reported_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ending each = reported_[i];  // what its user does now may move the list
    user.done(*each.which, each.bytes, each.error);
  }
  reported_.clear();
  return count;
}

std::size_t joined_transport::poll(receiver& user) {
  user_ = &user;
  std::size_t events = 0;
  for (const int each : used_) events += link(each)->poll(events_[static_cast<std::size_t>(each)]);
  if (used_.size() == 1) [[unlikely]]  // the others are being met
    for (std::size_t i = 1; i < links_.size(); ++i)
      if (links_[i] != nullptr) events += links_[i]->poll(events_[i]);
  look_at_links();
  if (!moving_.empty()) move_payloads();
  if (!unflushed_.empty()) flush();
  return events + report_ended(user);
}

std::unique_ptr<transport> join_links(std::vector<std::unique_ptr<transport>> links, joined_links_settings settings) {
  return std::make_unique<joined_transport>(std::move(links), std::move(settings));
}

}  // namespace weft::fabric
