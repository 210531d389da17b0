// SPDX-License-Identifier: Apache-2.0
// Peers: connections, frames, and credit.
//
// Each frame costs the credit of its bytes, given back when the receiver has taken it out of its ring, which every poll
// does: so credit always comes back while the peer polls, whatever its ranks do. The last eighth of the credit is kept
// for control frames. What costs nothing has room in the ring beside the credit, for 16 headers of each peer:
// - frames that open connections: three at most;
// - frames that give back at least half of a peer's credit. A peer that has taken none of them has nothing to spend but
//   the credit that it began with, so that there are two of them at most which it has not taken. Other frames that say
//   something of credit, as when a peer is to send envelopes only, cost as much as any; one that has to wait for credit
//   goes at the latest when half of the peer's is to be given back, so two peers never wait for each other;
// - frames that let a peer find a gap before them (`check_sequences`): eight at most.
#include "flow_control.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>

#include "room.hpp"

namespace weft::fabric {
namespace {

/// A connection that fails may do so because its other side, or this one, has been given up by the others: they get so
/// long to say it.
constexpr std::chrono::milliseconds time_to_explain{100};

/// Between two refusals of the provider, for them to be one: while this process polls it tries far more often. While it
/// does not, or has nothing to send to that peer, nothing is known of the provider.
constexpr std::chrono::milliseconds longest_pause{1'000};

/// Units that any ring has room for.
constexpr std::uint64_t most_credit = std::uint64_t{1} << 40;

constexpr int free_checks = 8;

constexpr std::chrono::milliseconds between_checks{10};

}  // namespace

std::size_t credit_of_each(std::size_t credit, const memory_budget* memory, std::size_t others,
                           std::size_t longest_frame) noexcept {
  constexpr std::size_t usual = 16 << 20;
  const std::size_t all = memory == nullptr ? usual : std::min(usual, memory->limit() / 32);
  return std::max(others == 0 ? credit : std::min(credit, all / others), 4 * longest_frame);
}

flow_control::flow_control(transport& network, messenger_settings& settings, transfer_slots& slots,
                           ended_operations& operations, slot_map<departure>& departures, troubles& found,
                           message_counts& counts)
    : network_(network),
      settings_(settings),
      slots_(slots),
      operations_(operations),
      departures_(departures),
      troubles_(found),
      counts_(counts),
      bell_(settings),
      frame_limit_(sizeof(header) + settings.eager_limit),
      received_(settings.memory),
      buffered_(settings.memory) {
  for (std::size_t i = 0; i < settings.first_rank.size(); ++i)
    peers_.push_back(std::make_unique<peer>(static_cast<int>(i), frames_));
  unflushed_.reserve(peers_.size());
}

/// What the network can do is known only now.
void flow_control::keep_within(const transport_limits& limits) {
  frame_limit_ = std::max(std::min(limits.frame, frame_limit_), sizeof(header) + 64);
  settings_.eager_limit = frame_limit_ - sizeof(header);
  settings_.piece = std::min({settings_.piece, limits.payload, std::size_t{1} << 31});
}

void flow_control::start(std::span<const address> endpoints) {
  keep_within(network_.limits());
  const std::size_t others = peers_.size() - 1;
  const std::size_t each = credit_of_each(settings_.credit, settings_.memory.get(), others, frame_limit_);
  credit_of_each_ = static_cast<std::int64_t>(each / credit_unit);
  // A provider gives a ring's memory back a part at a time, hence the third more.
  const std::size_t receives = others * (each + each / 3 + 16 * sizeof(header)) + 8 * frame_limit_;
  network_.start(endpoints, receives);
  inject_limit_ = std::min(network_.limits().inject, frame_limit_);
  at_once_ = std::min(fabric::longest_at_once(settings_.eager_limit, each), network_.limits().frame - sizeof(header));
  room_of_several_ = at_once_ - sizeof(header);
  several_ = std::make_unique_for_overwrite<std::byte[]>(room_of_several_);
  slots_.keep_always(at_once_, frames_of_several);
  to(settings_.process).connected = true;
  for (const auto& other : peers_) {
    other->road = network_.is_near(other->process) ? message_counts::node_memory : message_counts::network;
    const bool far = other->road == message_counts::network && other->process != settings_.process;
    other->at_once = far ? at_once_ : settings_.eager_limit;
    other->eager = other->road == message_counts::node_memory ? at_once_ : settings_.eager_limit;
    if (far && received_.bytes() == 0) {
      const std::size_t links = network_.limits().links;  // several take half as much again (links/)
      received_.grow(links == 1 ? receives : links * receives / 2 * 3, "the network's receive buffers");
    }
  }
  for (std::size_t i = static_cast<std::size_t>(settings_.process) + 1; i < peers_.size(); ++i) {
    header hello;
    hello.kind = message_kind::hello;
    hello.source = 1;
    hello.length = static_cast<std::uint64_t>(credit_of_each_);
    hello.detail = network_.limits().frame;
    send_control(*peers_[i], hello);
  }
}

bool flow_control::connected() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& each) { return each->connected; });
}

std::string flow_control::missing() const {
  std::string list;
  for (const auto& each : peers_)
    if (!each->connected) list += (list.empty() ? "" : ", ") + std::to_string(each->process);
  return list;
}

void flow_control::name_connections() {
  const std::vector<std::uint64_t> ends = network_.settle_connections();
  for (std::size_t i = static_cast<std::size_t>(settings_.process) + 1; i < ends.size(); ++i) {
    if (ends[i] == 0) continue;
    header name;
    name.kind = message_kind::hello;
    name.source = 2;
    name.detail = ends[i];
    send_control(*peers_[i], name);
  }
}

void flow_control::keep_links(std::uint32_t kept) {
  network_.keep_links(kept);
  for (const auto& each : peers_)
    if (each->road == message_counts::network) each->links = network_.limits().links;
}

void flow_control::take_hello(peer& from, const header& h) {
  if (h.source == 2) {
    from.their_end = h.detail;
    return;
  }
  if (from.connected || h.length > most_credit)
    return troubles_.suspect(from, "it opened its connection twice, or gave more credit than anyone has");
  from.connected = true;
  from.credit += static_cast<std::int64_t>(h.length);
  from.at_once =
      std::min<std::uint64_t>(from.at_once, std::max<std::uint64_t>(h.detail, sizeof(header)) - sizeof(header));
  if (h.source == 0) return;
  header answer;
  answer.kind = message_kind::hello;
  answer.length = static_cast<std::uint64_t>(credit_of_each_);
  answer.detail = network_.limits().frame;
  send_control(from, answer);
}

void flow_control::suspect_connection(int process, std::string_view why) noexcept {
  troubles_.suspect(to(process), why, time_to_explain);
}

void flow_control::blame(peer& other) noexcept {
  if (other.lost) return;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    troubles_.suspect(to(settings_.process), "it has no memory for what it and the others have to say");
  } catch (const error& failed) {
    troubles_.suspect(failed.code() == errc::out_of_memory ? to(settings_.process) : other, failed.what());
  } catch (const std::exception& failed) {
    troubles_.suspect(other, failed.what());
  } catch (...) {
    troubles_.suspect(other, "unknown error");
  }
}

bool flow_control::drained() const noexcept {
  return unflushed_.empty() &&
         std::ranges::none_of(slots_.flying(), [](const transfer_slot& slot) { return slot.has_frame(); });
}

header flow_control::head_for(message_kind kind, const operation& about) noexcept {
  header h;
  h.kind = kind;
  h.matching = about.collective ? space::collective : space::message;
  h.communicator = about.at->members->communicator;
  h.source = about.at->rank;
  if (about.peer != any_peer) h.destination = key_of(*about.at->members, about.peer).rank;
  h.tag = about.tag;
  h.length = about.bytes;
  h.detail = about.fingerprint;
  return h;
}

bool flow_control::costs_credit(const header& h) noexcept {
  return h.kind != message_kind::hello && (h.kind != message_kind::credit || h.destination != 0);
}

bool flow_control::gives_for_nothing(const peer& to) const noexcept {
  return to.owed >= credit_of_each_ / 2 || (to.check_due && to.checks < free_checks);
}

bool flow_control::try_transmit(peer& to, header& h, const std::byte* body, std::size_t bytes, std::int64_t reserve) {
  const std::size_t size = sizeof(header) + bytes;
  if (h.kind == message_kind::credit) h.destination = gives_for_nothing(to) ? 0 : 1;
  const std::int64_t cost = costs_credit(h) ? credit_cost(size) : 0;
  if (cost != 0 && to.credit - cost < reserve) {
    ++counts_.without_credit;
    return false;
  }
  h.job = settings_.job;
  h.process = static_cast<std::uint32_t>(settings_.process);
  h.incarnation = settings_.incarnations[static_cast<std::size_t>(settings_.process)];
  h.sequence = to.sent_frames;
  h.credit = to.owed;
  const bool check = h.kind == message_kind::credit && to.check_due;  // one whose end the provider reports
  if (to.road == message_counts::node_memory && !check) {
    const auto head = std::as_bytes(std::span(&h, 1));
    const bool put = post_to_provider(to.process, [&] { return network_.put_frame(to.process, head, {body, bytes}); });
    if (!taken(to, put, true)) return false;
  } else if (size <= inject_limit_ && size <= 4096 && !check) {
    alignas(64) std::array<std::byte, 4096> frame;
    write_part(frame.data(), 0, h);
    if (bytes != 0) std::memcpy(frame.data() + sizeof h, body, bytes);
    const bool put = post_to_provider(to.process, [&] { return network_.inject(to.process, {frame.data(), size}); });
    if (!taken(to, put, true)) return false;
  } else {
    bool there_was_memory = false;
    const auto send = [&](transfer_slot& slot) {
      there_was_memory = true;
      write_part(slot.frame.get(), 0, h);
      copy_bytes(slot.frame.get() + sizeof h, body, bytes);
      return network_.send(to.process, {slot.frame.get(), size}, slot);
    };
    const bool several = h.kind == message_kind::several;
    const std::size_t room = several ? sizeof(header) + room_of_several_ : size;
    const auto use = several ? transfer_slot::purpose::several : transfer_slot::purpose::frame;
    const bool posted = post_transfer(use, nullptr, to.process, room, send);
    if (!taken(to, posted, there_was_memory)) return false;
  }
  ++to.sent_frames;
  to.owed = 0;
  to.credit -= cost;
  return true;
}

bool flow_control::taken(peer& by, bool accepted, bool there_was_memory) {
  if (accepted) [[likely]] {
    by.refused_last = {};
    bell_.sent(by);
    return true;
  }
  ++counts_.refused;
  if (by.road == message_counts::node_memory && there_was_memory) return false;
  const auto now = settings_.time->now();
  if (now - by.refused_last > longest_pause) by.refused_since = now;
  by.refused_last = now;
  if (now - by.refused_since > settings_.refusal_limit)
    troubles_.suspect(by, "for " + std::to_string(settings_.refusal_limit.count()) + " ms " +
                              network_.limits().provider + " has taken nothing for it, or there was no memory");
  return false;
}

void flow_control::take_credit(peer& from, const header& h) {
  from.credit += h.credit;
  if (h.credit != 0) want_flush(from);
}

void flow_control::owe_credit(peer& to, std::size_t frame_bytes) {
  to.owed += credit_cost(frame_bytes);
  if (to.owed < credit_of_each_ / 2 || to.credit_due) return;
  to.credit_due = true;
  want_flush(to);
}

bool flow_control::send_credit(peer& to) {
  header h;
  h.kind = message_kind::credit;
  h.source = to.asked_for_envelopes ? 1 : 0;
  if (!try_transmit(to, h, nullptr, 0, 0)) return false;
  if (std::exchange(to.check_due, false)) ++to.checks;
  to.credit_due = false;
  return true;
}

/// Whoever misses it sees that by the frame after it:
/// so each peer gets one.
void flow_control::check_sequences() {
  const auto now = settings_.time->now();
  if (now < next_check_) return;
  next_check_ = now + between_checks;
  frames_dropped_ = false;
  for (const auto& each : peers_) {
    if (each->lost || !each->connected || each->process == settings_.process) continue;
    each->check_due = each->credit_due = true;
    want_flush(*each);
  }
}

void flow_control::note_stored(int process, std::ptrdiff_t bytes) {
  peer& from = to(process);
  from.stored = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(from.stored) + bytes);
  counts_.note_stored(bytes);
  if (process == settings_.process) return;
  const std::size_t limit = memory_is_scarce() ? 0 : settings_.unexpected_limit;
  const bool ask = from.stored > (from.asked_for_envelopes ? limit / 2 : limit);
  if (ask == from.asked_for_envelopes) return;
  from.asked_for_envelopes = ask;
  from.credit_due = true;
  want_flush(from);
}

}  // namespace weft::fabric
