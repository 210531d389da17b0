// SPDX-License-Identifier: Apache-2.0
#include "agreements.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <weft/fabric/wire_bytes.hpp>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

/// Bytes of a message, far above what ranks give.
constexpr std::uint64_t longest_message = std::uint64_t{256} << 20;

/// What a process gives: of each of its ranks the rank, the length, and the bytes.
std::vector<std::byte> joined(const std::map<int, std::vector<std::byte>>& given) {
  std::vector<std::byte> all;
  for (const auto& [rank, its] : given) {
    put(all, static_cast<std::uint32_t>(rank));
    put(all, static_cast<std::uint32_t>(its.size()));
    put(all, its);
  }
  return all;
}

/// What ranks of that process have given; from where it is not that on, nothing.
void read_joined(std::span<const std::byte> all, const group& members, int process, std::vector<contribution>& to) {
  for (byte_reader from(all); !from.rest().empty();) {
    const auto rank = from.number<std::uint32_t>();
    const auto its = from.bytes(from.number<std::uint32_t>());
    if (!from.good() || rank >= members.process.size() || members.process[rank] != process) return;
    to.push_back({static_cast<int>(rank), its});
  }
}

std::vector<std::byte> combined(const group& members, std::span<const int> processes, combination how,
                                std::span<const std::optional<std::vector<std::byte>>> given) {
  std::vector<contribution> all;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]) read_joined(*given[i], members, processes[i], all);
  std::ranges::sort(all, {}, &contribution::rank);
  const auto of_one = [](const contribution& a, const contribution& b) { return a.rank == b.rank; };
  all.erase(std::unique(all.begin(), all.end(), of_one), all.end());
  return how(members, all);
}

}  // namespace

void agreements::know(communicator& of, const std::shared_ptr<const group>& members, std::size_t processes) {
  if (of.members != nullptr) return;
  std::vector<int> in_order, firsts, places(processes, -1);
  for (int rank = 0; rank < members->size(); ++rank) {
    const std::int32_t process = members->process[static_cast<std::size_t>(rank)];
    int& place = places[static_cast<std::size_t>(process)];
    if (place >= 0) continue;
    place = static_cast<int>(in_order.size());
    in_order.push_back(process);
    firsts.push_back(rank);
  }
  of.processes = std::move(in_order);
  of.firsts = std::move(firsts);
  of.places = std::move(places);
  of.members = members;
}

void agreements::begin(agreement_call& call) {
  const participant& member = *call.at;
  const std::uint64_t id = member.members->communicator;
  const auto [known, is_new] = communicators_.try_emplace(id);
  communicator& of = known->second;
  try {
    know(of, member.members, settings_.first_rank.size());
  } catch (...) {
    if (is_new) communicators_.erase(known);  // else it says of nobody that it is absent
    throw;
  }
  agreement& one = of.open[call.number];
  call.failure = given_up_;
  if (call.failure == nullptr && (one.is_absent || call.number != of.next))
    call.failure = std::make_exception_ptr(
        error(errc::operation_failed, "the others have been told that rank " + std::to_string(member.rank) +
                                          ", or another of its process, takes part in communicator " +
                                          std::to_string(id) + " no more"));
  if (call.failure != nullptr) return call.finished();
  one.calls.reserve(one.calls.size() + 1);
  one.combine = call.combine;
  one.given[member.rank] = std::move(call.given);
  one.calls.push_back(&call);
  ++waiting_;
  settle(of, id);
}

std::vector<int> agreements::missing(const agreement_call& call) const {
  const auto known = communicators_.find(call.at->members->communicator);
  if (known == communicators_.end()) return {};
  const communicator& of = known->second;
  const auto its = of.open.find(call.number);
  if (its == of.open.end()) return {};
  const agreement& one = its->second;
  const auto lacks = [&](int rank) {
    const int process = of.members->process[static_cast<std::size_t>(rank)];
    if (process == settings_.process) return !one.given.contains(rank) && !is_absent(of, rank);
    return one.part && one.part->coordinates() &&
           one.part->lacks_report_of(of.places[static_cast<std::size_t>(process)]);
  };
  std::vector<int> ranks;
  for (int rank = 0; rank < of.members->size(); ++rank)
    if (lacks(rank)) ranks.push_back(rank);
  return ranks;
}

void agreements::withdraw(const agreement_call& call) noexcept {
  const auto known = communicators_.find(call.at->members->communicator);
  if (known == communicators_.end()) return;
  const auto its = known->second.open.find(call.number);
  if (its != known->second.open.end()) waiting_ -= std::erase(its->second.calls, &call);
}

bool agreements::is_absent(const communicator& of, int rank) const {
  const group& members = *of.members;
  const auto index = static_cast<std::size_t>(rank);
  return rooms_.agrees_no_more(key_of(members, rank), members.offered.empty() ? 0 : members.offered[index]);
}

bool agreements::all_absent(const communicator& of) const {
  if (of.members == nullptr) return rooms_.agrees_no_more(of.asked, of.offered);
  for (int rank = 0; rank < of.members->size(); ++rank)
    if (of.members->process[static_cast<std::size_t>(rank)] == settings_.process && !is_absent(of, rank)) return false;
  return true;
}

/// Of the latest agreement, and so of all after it: even if a rank of this process has come since.
bool agreements::has_said_absent(const communicator& of) {
  const auto latest = of.open.find(of.next);
  return latest != of.open.end() && latest->second.is_absent;
}

/// Whether all ranks of this process that are there have called; some have.
bool agreements::is_complete(const communicator& of, agreement& one) const {
  if (one.part || one.given.empty()) return false;
  for (int& rank = one.awaited; rank < of.members->size(); ++rank)  // those before it have called, or are gone for good
    if (of.members->process[static_cast<std::size_t>(rank)] == settings_.process && !one.given.contains(rank) &&
        !is_absent(of, rank))
      return false;
  return true;
}

void agreements::start(communicator& of, std::uint32_t number, agreement& one) {
  consensus::setup what;
  what.self = of.places[static_cast<std::size_t>(settings_.process)];
  what.given = joined(one.given);
  for (const int process : of.processes) what.gone.push_back(flow_.to(process).lost);
  what.combine = [&of, combine = one.combine](auto given) {
    return combined(*of.members, of.processes, combine, given);
  };
  what.send = [this, &of, number](int to, auto message) {
    const group& members = *of.members;
    const auto place = static_cast<std::size_t>(to), rank = static_cast<std::size_t>(of.firsts[place]);
    send(members.communicator, number, of.processes[place], members.world[rank],
         members.offered.empty() ? 0 : members.offered[rank], message);
  };
  one.part.emplace(std::move(what));
  of.next = number + 1;
  for (const auto& [process, message] : std::exchange(one.early, {})) {
    peer& from = flow_.to(process);
    const int place = of.places[static_cast<std::size_t>(process)];
    if (!from.lost && (place < 0 || !one.part->take(place, message)))
      troubles_.suspect(from, "it sent what is no message of an agreement");
  }
  finish(of, number);
}

void agreements::send(std::uint64_t id, std::uint32_t number, int process, std::int32_t rank, std::uint64_t offered,
                      std::span<const std::byte> message) {
  const std::size_t most = flow_.frame_limit() - sizeof(header);
  for (std::size_t sent = 0; sent < message.size(); sent += most) {
    header h;
    h.kind = message_kind::consensus;
    h.communicator = id;
    h.destination = rank;
    h.source = static_cast<std::int32_t>(number);
    h.tag = offered;
    h.length = message.size();
    h.detail = sent;
    const auto part = message.subspan(sent, std::min(most, message.size() - sent));
    flow_.send_control(flow_.to(process), h, part.data(), part.size());
  }
}

void agreements::take(peer& from, const header& h, std::span<const std::byte> body) {
  bytes& partial = partial_[static_cast<std::size_t>(from.process)];
  if (h.detail != partial.size() || body.empty() || h.length > longest_message || body.size() > h.length - h.detail)
    return troubles_.suspect(from, "it sent a part of an agreement that is none");
  partial.insert(partial.end(), body.begin(), body.end());
  if (partial.size() == h.length) take_whole(from, h, std::exchange(partial, {}));
}

void agreements::take_whole(peer& from, const header& h, bytes message) {
  const auto number = static_cast<std::uint32_t>(h.source);
  communicator& of = communicators_[h.communicator];
  if (of.members == nullptr) {
    of.asked = {h.communicator, h.destination};
    of.offered = h.tag;
    if (const auto members = rooms_.members_of(h.communicator)) know(of, members, settings_.first_rank.size());
  }
  const int place = of.members != nullptr ? of.places[static_cast<std::size_t>(from.process)] : 0;
  if (place < 0) return troubles_.suspect(from, "it sent of an agreement that it takes no part in");
  const auto its = of.open.find(number);
  if (its != of.open.end() && its->second.part) {
    if (!its->second.part->take(place, message))
      return troubles_.suspect(from, "it sent what is no message of an agreement");
    return finish(of, number);
  }
  if (number < of.next) return;  // all have its answer
  const bool left = all_absent(of);
  if (left || has_said_absent(of)) {
    send(h.communicator, number, from.process, 0, 0, consensus::absence());
    if (number == of.next) of.open[number].is_absent = true;
    return left ? note_left(h.communicator, of) : void();
  }
  if (number != of.next) return troubles_.suspect(from, "it sent of an agreement that cannot have begun");
  of.open[number].early[from.process] = std::move(message);
}

/// Goes on with what needs no further call of this process.
void agreements::settle(communicator& of, std::uint64_t id) noexcept {
  try {
    const auto latest = of.open.find(of.next);
    if (latest != of.open.end()) {
      agreement& one = latest->second;
      if (one.combine != nullptr && is_complete(of, one)) return start(of, of.next, one);
      if (one.given.empty() && all_absent(of)) say_absent(id, of.next, one);
    }
  } catch (const std::bad_alloc&) {  // the others remind this process
  }
}

void agreements::say_absent(std::uint64_t id, std::uint32_t number, agreement& one) {
  one.is_absent = true;
  const bytes message = consensus::absence();
  for (const auto& [process, asked] : std::exchange(one.early, {})) send(id, number, process, 0, 0, message);
}

void agreements::finish(communicator& of, std::uint32_t number) {
  agreement& one = of.open.at(number);
  if (!one.part->decision()) return;
  if (one.agreed == nullptr) one.agreed = std::make_shared<const bytes>(*one.part->decision());
  of.open.erase(of.open.begin(), of.open.find(number));  // who takes part in this one has the answer of those before
  waiting_ -= one.calls.size();
  for (agreement_call* const each : std::exchange(one.calls, {})) {
    each->agreed = one.agreed;
    each->finished();
  }
}

void agreements::lose(int process) noexcept {
  for (auto& [id, of] : communicators_) {
    const int place = of.members != nullptr ? of.places[static_cast<std::size_t>(process)] : -1;
    if (place < 0) continue;
    for (auto each = of.open.begin(); each != of.open.end();) {
      auto& [number, one] = *each++;  // those before it may go
      if (!one.part) continue;
      try {
        one.part->lose(place);
        finish(of, number);
      } catch (const std::bad_alloc&) {  // the next reminder goes on
      }
    }
  }
}

void agreements::give_up(const std::exception_ptr& why) noexcept {
  given_up_ = why;
  waiting_ = 0;
  for (auto& [id, of] : communicators_)
    for (auto& [number, one] : of.open)
      for (agreement_call* const each : std::exchange(one.calls, {})) {
        each->failure = why;
        each->finished();
      }
  communicators_.clear();
}

void agreements::look_again(const std::shared_ptr<const group>& members) noexcept {
  const std::uint64_t id = members->communicator;
  const auto known = communicators_.find(id);
  if (known == communicators_.end()) return;
  communicator& of = known->second;
  try {
    know(of, members, settings_.first_rank.size());  // who has left is perhaps not all of them
  } catch (const std::bad_alloc&) {                  // others ask once more
    return;
  }
  settle(of, id);
  if (all_absent(of)) note_left(id, of);
}

void agreements::look_again() noexcept {
  for (auto& [id, of] : communicators_) settle(of, id);
}

void agreements::note_left(std::uint64_t id, communicator& of) noexcept {
  if (of.has_left) return;
  try {
    left_.push_back(id);
    of.has_left = true;
  } catch (const std::bad_alloc&) {  // it stays
  }
  if (left_.size() <= most_left) return;
  communicators_.erase(left_.front());
  left_.pop_front();
}

void agreements::remind(bool (*is_due)(std::uint8_t& looks)) noexcept {
  for (auto& [id, of] : communicators_) {
    settle(of, id);
    for (auto each = of.open.begin(); each != of.open.end();) {
      auto& [number, one] = *each++;  // those before it may go
      if (!one.part || one.calls.empty() || !is_due(one.looks)) continue;
      try {
        one.part->remind();
        finish(of, number);
      } catch (const std::bad_alloc&) {  // once more
      }
    }
  }
}

}  // namespace weft::fabric
