// SPDX-License-Identifier: Apache-2.0
#include "node_neighbor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

/// Records of one peer before it is the next one's turn.
constexpr int records_in_turn = 32;

/// What is read of a payload before other things get their turn; less while short messages come between, which are not
/// to wait for ten times as long as they take.
constexpr std::size_t slice = 256 << 10;
constexpr std::size_t short_slice = 8 << 10;
constexpr int short_slices_after_message = 8;

/// What is copied of a payload at a time.
constexpr std::size_t part = 8 << 10;

/// Payloads of so many bytes are copied as a whole, if there is room for all of it.
constexpr std::size_t longest_at_once = 16 << 10;

/// Between two parts of one whose sender goes on with it.
constexpr std::chrono::microseconds longest_gap{3};

/// Who looks less often reads, too: there is more to have than the ring holds.
constexpr std::chrono::microseconds often{20};

template <class Body>
std::span<const std::byte> bytes_of(const Body& body) {
  return std::as_bytes(std::span(&body, 1));
}

template <class Body>
Body read_body(std::span<const std::byte> record) {
  Body body;
  if (record.size() < sizeof body) throw error(errc::protocol, "a record of the node's memory is cut short");
  std::memcpy(&body, record.data(), sizeof body);
  return body;
}

struct message_head {
  message_name name;
  message_ends ends;
};
static_assert(sizeof(message_head) == sizeof(message_name) + sizeof(message_ends));

std::uint64_t nanoseconds_now() noexcept {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(steady_clock_source().now().time_since_epoch()).count());
}

std::uint64_t name_of(const transfer& context) noexcept { return reinterpret_cast<std::uintptr_t>(&context); }

}  // namespace

struct node_neighbor::payload_record {
  std::uint64_t tag = 0;
  std::uint64_t address = 0;  ///< in the sender's memory
  std::uint64_t bytes = 0;
  std::uint64_t name = 0;        ///< to be told when it has been taken
  std::uint64_t read_alone = 0;  ///< 1: no parts of it come
};

struct node_neighbor::part_record {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;   ///< of the payload
  std::uint64_t offset = 0;  ///< of the part in it
};

struct node_neighbor::copied_record {
  std::uint64_t name = 0;
  std::uint64_t offset = 0;
};

node_neighbor::node_neighbor(const arena& memory, int peer, transfer_list& ended)
    : peer_(peer),
      out_(memory.ring_to(peer)),
      in_(memory.ring_from(peer)),
      pid_(memory.pid(peer)),
      reads_(memory.reading_refusal().empty()),
      copies_(!reads_ || !memory.crowded()),
      ended_(ended) {}

bool node_neighbor::put_frame(std::span<const std::byte> head, std::span<const std::byte> body) {
  return put(record_kind::frame, head, body);
}

bool node_neighbor::put_message(message_name name, message_ends ends, std::span<const std::byte> bytes) {
  const message_head head{name, ends};
  const std::size_t all = sizeof head + bytes.size();
  std::byte* const room = cut_ ? nullptr : out_.room_for(all);
  if (room == nullptr) return false;
  std::memcpy(room, &head, sizeof head);
  copy_bytes_to_reader(room + sizeof head, bytes.data(), bytes.size());
  out_.publish(static_cast<std::uint8_t>(record_kind::message), all);
  return true;
}

bool node_neighbor::send(std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) {
  if (cut_) return false;
  moving_transfer& leaving =
      moving_transfer::begin(context, false, const_cast<std::byte*>(bytes.data()), bytes.size(), tag);
  if (reads_ && copies_ && bytes.size() > longest_at_once) choose_road(leaving);
  const payload_record there{tag, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size(), name_of(context),
                             leaving.read_alone};
  const bool in_turn = reads_ || leaving_.empty();  // payloads of one tag stay in their order
  if (copies_ && in_turn && bytes.size() <= longest_at_once && send_at_once(leaving)) return true;
  if (reads_ && !put(record_kind::payload, bytes_of(there))) return false;
  leaving_.push(leaving);
  return true;
}

/// By the faster road, which is known from those that were alone. Behind others, and while some come the other way, it
/// is read: then both processes copy all the time, and this way each byte once.
void node_neighbor::choose_road(moving_transfer& payload) {
  const bool is_alone = leaving_.empty(), is_long = payload.bytes >= faster_road::shortest;
  payload.read_alone = (is_long && !road_.by_parts()) || (!is_alone && !landing_.empty());
  if (is_alone && is_long) payload.address = nanoseconds_now();
}

bool node_neighbor::send_at_once(moving_transfer& payload) {
  const std::size_t parts = std::max<std::size_t>(1, (payload.bytes + part - 1) / part);
  if (!out_.has_usual_room(parts * arena_ring_writer::place_of(sizeof(part_record) + part))) return false;
  do put_part(payload, false);
  while (payload.done < payload.bytes);
  end(payload, {});
  return true;
}

void node_neighbor::receive(std::uint64_t tag, std::span<std::byte> bytes, transfer& context) {
  posted_.push(moving_transfer::begin(context, true, bytes.data(), bytes.size(), tag));
}

bool node_neighbor::cancel(transfer& context) {
  const auto is_it = [&](const moving_transfer& each) { return each.of == &context; };
  moving_transfer* found = posted_.take_if(is_it);
  if (found == nullptr) {
    found = landing_.take_if(is_it);
    if (found == nullptr) return false;
    if (found->name != 0) owed_.push_back(found->name);
  }
  end(*found, std::errc::operation_canceled);
  return true;
}

void node_neighbor::cut() noexcept {
  cut_ = true;
  out_.end();
  while (!leaving_.empty()) end(leaving_.pop(), std::errc::connection_aborted);
  while (!landing_.empty()) end(landing_.pop(), std::errc::connection_aborted);
}

std::size_t node_neighbor::poll(receiver& to) {
  if (cut_) return 0;
  std::size_t events = take_records(to);
  if (!landing_.empty() && reads_) events += parts_come() ? 1 : read_slice(to);
  if (!owed_.empty()) tell_taken();
  if (!leaving_.empty() && copies_) events += put_parts();
  return events;
}

bool node_neighbor::put(record_kind kind, std::span<const std::byte> first, std::span<const std::byte> second) {
  return !cut_ && out_.put(static_cast<std::uint8_t>(kind), first, second);
}

void node_neighbor::end(moving_transfer& ended, std::errc failure) noexcept {
  ended.failure = failure;
  ended_.push(ended);
}

std::size_t node_neighbor::take_records(receiver& to) {
  std::size_t taken = 0;
  for (int left = records_in_turn; left > 0 && !cut_; --left) {
    const arena_ring_reader::record next = in_.next();
    if (next.kind == 0) break;
    // Nearly all are messages: they do not go through the jump of the other kinds.
    if (const auto kind = static_cast<record_kind>(next.kind); kind == record_kind::message) [[likely]]
      take_message(next.bytes, to);
    else
      take(kind, next.bytes, to);
    ++taken;
  }
  if (taken != 0) in_.release();
  return taken;
}

inline void node_neighbor::take_message(std::span<const std::byte> bytes, receiver& to) {
  if (!landing_.empty()) short_slices_ = short_slices_after_message;
  const auto head = read_body<message_head>(bytes);
  to.arrived(peer_, head.name, head.ends, bytes.subspan(sizeof head));
}

void node_neighbor::take(record_kind kind, std::span<const std::byte> bytes, receiver& to) {
  switch (kind) {
    case record_kind::message:
      return take_message(bytes, to);
    case record_kind::frame:
      return to.arrived(bytes);
    case record_kind::payload:
      return take_payload(read_body<payload_record>(bytes));
    case record_kind::part:
      take_part(bytes, to);
      return in_.release();
    case record_kind::copied:
      take_copied(bytes, to);
      return in_.release();
    case record_kind::taken:
      return take_taken(read_body<std::uint64_t>(bytes), to);
  }
  throw error(errc::protocol, "a record of the node's memory is of an unknown kind");
}

/// The receive that a payload is for; null where that has been taken back, or is too short and ends.
moving_transfer* node_neighbor::take_posted(std::uint64_t tag, std::uint64_t bytes) noexcept {
  moving_transfer* const found = posted_.take_if([&](const moving_transfer& each) { return each.tag == tag; });
  if (found == nullptr) return nullptr;
  if (found->bytes < bytes) return end(*found, std::errc::message_size), nullptr;
  found->bytes = found->end = static_cast<std::uint32_t>(bytes);
  return found;
}

void node_neighbor::take_payload(const payload_record& there) {
  moving_transfer* const found = take_posted(there.tag, there.bytes);
  if (found == nullptr) return owed_.push_back(there.name);
  found->address = there.address;
  found->name = there.name;
  found->read_alone = there.read_alone != 0;
  landing_.push(*found);
  if (copies_) last_part_ = last_look_ = steady_clock_source().now();
}

/// Of those that are landing.
moving_transfer* node_neighbor::first_read() const noexcept {
  return landing_.find_if([](const moving_transfer& each) { return each.name != 0; });
}

bool node_neighbor::parts_come() {
  const moving_transfer* const first = first_read();
  if (!copies_ || (first != nullptr && first->read_alone)) return false;
  const auto now = steady_clock_source().now();
  if (std::exchange(took_part_, false)) last_part_ = now;
  return now - std::exchange(last_look_, now) < often && now - last_part_ < longest_gap;
}

/// Of the first one, from the end on: more of its beginning may come in parts; and of those behind it of which none do.
std::size_t node_neighbor::read_slice(receiver& to) {
  moving_transfer* const first = first_read();
  if (first == nullptr) return 0;
  std::size_t left = short_slices_ > 0 ? short_slice : slice;
  if (short_slices_ > 0) --short_slices_;
  std::array<process_memory_piece, most_read_at_once> pieces;
  std::size_t count = 0;
  const auto add = [&](moving_transfer& from) {
    const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(left, from.end - from.done));
    from.end -= bytes;
    left -= bytes;
    pieces[count++] = {from.address + from.end, {from.data + from.end, bytes}};
    return left == 0 || count == pieces.size();
  };
  const auto is_read = [&](const moving_transfer& each) { return &each == first || each.read_alone; };
  landing_.find_if([&](moving_transfer& each) { return is_read(each) && add(each); });
  std::error_code refused = read_process_memory(pid_, std::span(pieces).first(count));
  // A process that was stopped may have been given up by the other one, whose memory is the application's again.
  if (in_.ended()) refused = make_error_code(std::errc::connection_aborted);
  if (refused)
    landing_.find_if([&](moving_transfer& each) {
      if (is_read(each)) each.failure = std::errc::io_error;
      return is_read(each) && --count == 0;
    });
  const auto is_over = [](const moving_transfer& each) {
    return each.name != 0 && (each.done == each.end || each.failure != std::errc{});
  };
  while (moving_transfer* const over = landing_.find_if(is_over))
    end_landing(*over, over->failure != std::errc{} ? refused : std::error_code{}, to);
  return 1;
}

void node_neighbor::end_landing(moving_transfer& ended, std::error_code failure, receiver& to) {
  landing_.take_if([&](const moving_transfer& each) { return &each == &ended; });
  if (ended.name != 0) owed_.push_back(ended.name);
  to.done(*ended.of, failure ? 0 : ended.bytes, failure);
}

void node_neighbor::tell_taken() {
  std::size_t told = 0;
  while (told < owed_.size() && put(record_kind::taken, bytes_of(owed_[told]))) ++told;
  owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(told));
}

void node_neighbor::take_taken(std::uint64_t name, receiver& to) {
  moving_transfer* const found =
      leaving_.take_if([&](const moving_transfer& each) { return name_of(*each.of) == name; });
  if (found == nullptr) return;
  if (found->address != 0) road_.took(!found->read_alone, found->bytes, nanoseconds_now() - found->address);
  to.done(*found->of, found->bytes, {});
}

std::size_t node_neighbor::put_parts() {
  std::size_t parts = 0;
  while (parts < records_in_turn) {
    // Those that are read, too, stay until they have been taken.
    moving_transfer* const next = leaving_.find_if([&](const moving_transfer& each) {
      return (each.done < each.bytes && !each.read_alone) || (!reads_ && each.bytes == 0);
    });
    if (next == nullptr || !out_.has_usual_room(arena_ring_writer::place_of(sizeof(part_record) + part)) ||
        !put_part(*next, reads_))
      break;
    ++parts;
    if (reads_ || next->done < next->bytes) continue;
    leaving_.take_if([&](const moving_transfer& each) { return &each == next; });
    end(*next, {});
  }
  return parts;
}

bool node_neighbor::put_part(moving_transfer& of, bool has_name) {
  const std::span<const std::byte> bytes(of.data + of.done, std::min<std::size_t>(part, of.bytes - of.done));
  const bool put_it = has_name ? put(record_kind::copied, bytes_of(copied_record{name_of(*of.of), of.done}), bytes)
                               : put(record_kind::part, bytes_of(part_record{of.tag, of.bytes, of.done}), bytes);
  if (put_it) of.done += static_cast<std::uint32_t>(bytes.size());
  return put_it;
}

/// Those of a receive that has been taken back are dropped.
void node_neighbor::take_part(std::span<const std::byte> record, receiver& to) {
  const auto head = read_body<part_record>(record);
  if (head.offset == 0)
    if (moving_transfer* const found = take_posted(head.tag, head.bytes)) landing_.push(*found);
  const auto is_it = [&](const moving_transfer& each) {
    return each.name == 0 && each.tag == head.tag && each.done == head.offset;
  };
  if (moving_transfer* const found = landing_.find_if(is_it)) land(*found, record.subspan(sizeof head), to);
}

/// Those of a payload that has been taken already are dropped. Another one of that name would have been announced
/// behind them.
void node_neighbor::take_copied(std::span<const std::byte> record, receiver& to) {
  const auto head = read_body<copied_record>(record);
  const auto is_it = [&](const moving_transfer& each) { return each.name == head.name && each.done == head.offset; };
  if (moving_transfer* const found = landing_.find_if(is_it)) land(*found, record.subspan(sizeof head), to);
}

void node_neighbor::land(moving_transfer& in, std::span<const std::byte> bytes, receiver& to) {
  const std::size_t left = in.end - in.done, taken = std::min(left, bytes.size());
  copy_bytes(in.data + in.done, bytes.data(), taken);
  in.done += static_cast<std::uint32_t>(taken);
  took_part_ = true;
  if (in.done == in.end) end_landing(in, {}, to);
}

}  // namespace weft::fabric
