// SPDX-License-Identifier: Apache-2.0
// What others ask of a rank, carried out with the messenger's token held.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>
#include <weft/window/window_lock.hpp>

#include "window_operations.hpp"

namespace weft::detail {

lock_mode window_messages::mode_of(const record& what) noexcept {
  return what.exclusive != 0 ? lock_mode::exclusive : lock_mode::shared;
}

/// Whether it is the number of a long message that its sender may choose.
bool window_messages::is_for_contents(std::uint64_t number) noexcept {
  return number != records_tag && number < asked_for;
}

void window_messages::send_held() noexcept {
  for (;;) {
    {
      const std::lock_guard lock(guard_);
      if (queued_.empty()) return;
      posting_.swap(queued_);
    }
    for (fabric::operation* const each : posting_) own_.host.messages().post_held(*each);
    posting_.clear();
  }
}

void window_messages::note_end(const fabric::operation& ended, peer* counted) noexcept {
  if (ended.failure != nullptr) fail(ended.failure);
  if (counted != nullptr) counted->open.fetch_sub(1);
  in_flight_.fetch_sub(1);
}

void window_messages::fail(const std::exception_ptr& why) noexcept {
  const std::lock_guard lock(guard_);
  if (failure_ != nullptr) return;
  failure_ = why;
  has_failed_.store(true);
  for (const auto& [number, each] : answers_) {
    if (each.of != nullptr) each.of->open.fetch_sub(1);
    if (each.done != nullptr) each.done->set();
  }
  answers_.clear();
  break_off(why);  // an operation may have failed alone
}

void window_messages::break_off(const std::exception_ptr& why) noexcept {
  own_.host.messages().break_held(own_.id(), why);
}

/// Has `part` done for that rank, and what comes of it sent. Where it is false, or throws, the communicator fails.
template <class Part>
void window_messages::serve_rank(int source, Part&& part) noexcept {
  try {
    peer* from = nullptr;
    {
      const std::lock_guard lock(guard_);
      from = &peer_of(source);
    }
    if (!part(*from))
      break_off(std::make_exception_ptr(
          error(errc::protocol, "rank " + std::to_string(source) + " asked for what its window does not have")));
    const std::lock_guard lock(guard_);
    queued_.reserve(queued_.size() + 1);
    close(*from);
  } catch (...) {
    break_off(std::current_exception());
  }
  send_held();
}

void window_messages::take(int source, std::span<const std::byte> records) noexcept {
  serve_rank(source, [&](peer& from) {
    while (!records.empty()) {
      record what;
      if (records.size() < sizeof what) return false;
      std::memcpy(&what, records.data(), sizeof what);
      records = records.subspan(sizeof what);
      if (records.size() < padded(what.bytes) || !carry_out(source, from, what, records.data())) return false;
      records = records.subspan(padded(what.bytes));
    }
    return true;
  });
}

/// Where `bytes` bytes from the record's offset on lie; null: not all of them are there.
std::byte* window_messages::place(const record& what, std::size_t bytes) const noexcept {
  const std::size_t element = mine_.type.bytes, count = mine_.memory.count;
  if (what.offset > count || bytes > (count - what.offset) * element) return nullptr;
  return mine_.memory.elements + what.offset * element;
}

bool window_messages::carry_out(int source, peer& from, const record& what, const std::byte* contents) {
  const window_type& type = mine_.type;
  std::array<std::byte, 8> before;
  switch (what.what) {
    case kind::put:
      if (std::byte* const to = place(what, what.bytes)) return copy_bytes(to, contents, what.bytes), true;
      return false;
    case kind::accumulate:
      if (std::byte* const to = place(what, what.bytes))
        return type.combine != nullptr && type.combine(what.by, to, contents, what.bytes / type.bytes);
      return false;
    case kind::fetch: {
      std::byte* const at = place(what, type.bytes);
      if (at == nullptr || what.bytes != type.bytes || type.fetch == nullptr) return false;
      if (!type.fetch(what.by, at, contents, before.data())) return false;
      return answer(source, what, std::span(before).first(type.bytes)), true;
    }
    case kind::compare: {
      std::byte* const at = place(what, type.bytes);
      if (at == nullptr || what.bytes != 2 * type.bytes || type.compare == nullptr) return false;
      type.compare(at, contents, contents + type.bytes, before.data());
      return answer(source, what, std::span(before).first(type.bytes)), true;
    }
    case kind::get:
      if (const std::byte* const of = place(what, what.length); of != nullptr && what.length <= capacity_ - sizeof what)
        return answer(source, what, {of, what.length}), true;
      return false;
    case kind::answer:
      return take_answer(source, what, contents);
    case kind::lock: {
      if (what.exclusive > 1) return false;
      before[0] = std::byte{try_lock_near(*mine_.memory.control, mode_of(what))};
      return answer(source, what, std::span(before).first(1)), true;
    }
    case kind::unlock:
      if (what.exclusive > 1 || !is_held_near(*mine_.memory.control, mode_of(what))) return false;
      return unlock_near(*mine_.memory.control, mode_of(what)), true;
    case kind::long_put:
      return is_for_contents(what.number) && place(what, what.length) != nullptr && (land(source, from, what), true);
    case kind::long_get:
      return is_for_contents(what.number) && place(what, what.length) != nullptr && (depart(source, what), true);
    case kind::notify:
    case kind::flush:
      if (from.landing.empty()) return carry_out_now(source, what);
      return from.waits.push_back({what, from.landings}), true;
  }
  return false;
}

bool window_messages::carry_out_now(int source, const record& what) {
  if (what.what == kind::flush) return answer(source, what, {}), true;
  if (what.offset >= mine_.slots) return false;
  window_base::notify_near(mine_.memory, what.offset);
  return true;
}

void window_messages::land(int source, peer& from, const record& what) {
  from.landing.reserve(from.landing.size() + 1);
  auto made = std::make_unique<landing>(*this, source, what.number, std::span(place(what, what.length), what.length),
                                        from.landings);
  from.landing.push_back(from.landings++);
  in_flight_.fetch_add(1);
  own_.host.messages().post_held(*made.release());
}

void window_messages::landed(int source, std::uint64_t number) noexcept {
  serve_rank(source, [&](peer& from) {
    std::erase(from.landing, number);
    const auto is_behind_landed = [&](const peer::waiting& each) {
      return std::ranges::none_of(from.landing, [&](std::uint64_t open) { return open < each.behind; });
    };
    for (; !from.waits.empty() && is_behind_landed(from.waits.front()); from.waits.pop_front())
      if (!carry_out_now(source, from.waits.front().what)) return false;
    return true;
  });
}

void window_messages::depart(int source, const record& what) {
  auto made = std::make_unique<departure>(*this, source, what.number | asked_for,
                                          std::span<const std::byte>(place(what, what.length), what.length), nullptr);
  in_flight_.fetch_add(1);
  own_.host.messages().post_held(*made.release());
}

void window_messages::answer(int source, const record& asked, std::span<const std::byte> contents) {
  const std::lock_guard lock(guard_);
  record what{kind::answer};
  what.number = asked.number;
  append(source, what, contents);
}

bool window_messages::take_answer(int source, const record& its, const std::byte* contents) {
  const std::lock_guard lock(guard_);
  const auto found = answers_.find(its.number);
  if (found == answers_.end()) return true;  // who asked has given up
  const awaited_answer of = found->second;
  if (of.rank != source || of.bytes != its.bytes) return false;
  answers_.erase(found);
  if (of.into != nullptr) copy_bytes(of.into, contents, of.bytes);
  if (of.of != nullptr) of.of->open.fetch_sub(1);
  if (of.done != nullptr) of.done->set();
  if (!of.given_up || contents[0] == std::byte{0}) return true;
  record back{kind::unlock};
  back.exclusive = *of.given_up == lock_mode::exclusive;
  append(source, back);
  return true;
}

}  // namespace weft::detail
