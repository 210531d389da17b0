// SPDX-License-Identifier: Apache-2.0
// Lost processes, communicators that failed, and how what is in flight ends then.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

/// What is broadcast when a communicator fails; the text follows.
struct failure_note {
  std::uint64_t communicator = 0;
  std::int32_t code = 0;   // errc
  std::int32_t lost = -1;  // failure_reason::lost
  std::uint32_t text_bytes = 0;
  std::uint32_t unused = 0;
};
constexpr std::size_t longest_text = 900;

std::exception_ptr as_exception(const failure_reason& why) {
  if (why.code == errc::peer_lost) return std::make_exception_ptr(peer_lost(why.lost, why.text));
  return std::make_exception_ptr(error(why.code, why.text));
}

}  // namespace

std::exception_ptr engine::lost_error(int process) const {
  const int rank = settings_.first_rank[static_cast<std::size_t>(process)];
  const peer& gone = flow_.to(process);
  return std::make_exception_ptr(peer_lost(rank, "rank " + std::to_string(rank) + " of the world (process " +
                                                     std::to_string(process) + ") is lost: " + gone.why));
}

void engine::lose(int process, const std::string& why) {
  peer& gone = flow_.to(process);
  if (!gone.lost) lose(gone, why);
  if (process != settings_.process) return;
  agreements_.give_up(lost_error(process));
  for (const auto& other : flow_.peers())
    if (!other->lost) lose(*other, "it has given this process up: " + why);
}

void engine::lose(peer& gone, const std::string& why) {
  const int process = gone.process;
  gone.why = why;
  const std::exception_ptr failure = lost_error(process);
  gone.lost = true;  // nothing throws from here on
  gone.lost_at = settings_.time->now();
  note_lost(settings_.first_rank[static_cast<std::size_t>(process)]);
  rooms_.for_each_member([&](participant& member) {
    const auto& processes = member.members->process;
    if (std::ranges::find(processes, process) != processes.end()) break_participant(member, failure, false);
  });
  orphan_payloads(process);
  flow_.forget(gone);
  agreements_.lose(process);
}

bool engine::face_troubles() noexcept {
  const bool none_suspected = lose_suspects();
  return break_what_is_owed() && none_suspected;
}

bool engine::lose_suspects() noexcept {
  bool all = true;
  for (const auto& each : flow_.peers()) {
    if (!each->suspected) continue;
    try {
      if (each->lost || settings_.time->now() >= each->lose_at) {
        if (!each->lost && settings_.suspected) settings_.suspected(each->process, each->suspicion);
        lose(each->process, each->suspicion);
        each->suspected = false;
      }
    } catch (...) {  // no memory: again when it is polled next
    }
    all = all && !each->suspected;
  }
  return all;
}

bool engine::break_what_is_owed() noexcept {
  if (const std::exception_ptr why = troubles_.take_general()) break_everything(why);
  auto& owed = troubles_.owed();
  while (!owed.empty()) {
    const troubles::owed_break first = owed.back();
    try {
      break_communicator(first.communicator,
                         {errc::operation_failed, "a process could not go on with it: " + message_of(first.why)}, true);
    } catch (...) {
      return false;
    }
    std::erase_if(owed, [&](const troubles::owed_break& each) { return each.communicator == first.communicator; });
  }
  return true;
}

/// A frame that could not be taken in, for want of memory, is lost; so what it belongs to must fail: its communicator,
/// or this process. Who has announced a message keeps it until that is answered.
void engine::frame_failed(peer& from, const header& h, std::span<const std::byte> body) noexcept {
  const std::exception_ptr why = std::current_exception();
  if (h.kind == message_kind::envelope && body.size() >= sizeof(envelope_body))
    answer_dropped(from.process, read_part<envelope_body>(body, 0).sender_name);
  if (h.kind == message_kind::eager || h.kind == message_kind::envelope)
    return troubles_.owe_break(h.communicator, why);
  flow_.blame(from);
}

void engine::drop_early_grants(room& of, stopped why) {
  departures_.for_each([&](departure& each) {
    if (each.early_in != &of) return;
    answer_withdrawn(flow_.to(each.process), each.remote_id, 0, why);
    remove(each);
  });
}

void engine::break_communicator(std::uint64_t communicator, const failure_reason& why, bool tell) {
  if (rooms_.has_failed(communicator)) return;
  const std::exception_ptr failure = as_exception(why);
  if (tell && settings_.broadcast) {
    const std::string_view shortened = std::string_view(why.text).substr(0, longest_text);
    std::vector<std::byte> note(sizeof(failure_note) + shortened.size());
    write_part(note.data(), 0,
               failure_note{communicator, static_cast<std::int32_t>(why.code), why.lost,
                            static_cast<std::uint32_t>(shortened.size())});
    std::memcpy(note.data() + sizeof(failure_note), shortened.data(), shortened.size());
    settings_.broadcast(note);
  }
  rooms_.fail(communicator, failure);
  rooms_.for_each_member([&](participant& member) {
    if (member.members->communicator == communicator) break_participant(member, failure, false);
  });
}

void engine::break_communicator(const participant& member, const std::exception_ptr& why) {
  failure_reason reason{errc::operation_failed,
                        "a collective failed on rank " + std::to_string(member.rank) + ": " + message_of(why)};
  try {
    std::rethrow_exception(why);
  } catch (const peer_lost& lost) {
    reason = {errc::peer_lost, lost.what(), lost.rank()};
  } catch (const error& failed) {
    if (failed.code() == errc::mismatched_call) reason = {errc::mismatched_call, failed.what()};
    if (failed.code() == errc::out_of_memory) reason.code = errc::out_of_memory;
  } catch (...) {  // whatever an operator throws
  }
  break_communicator(member.members->communicator, reason, true);
}

void engine::take_note(std::span<const std::byte> note) {
  if (note.size() < sizeof(failure_note)) return;
  const auto fixed = read_part<failure_note>(note, 0);
  if (fixed.text_bytes != note.size() - sizeof(failure_note)) return;
  std::string text(fixed.text_bytes, '\0');
  std::memcpy(text.data(), note.data() + sizeof(failure_note), text.size());
  note_lost(fixed.lost);
  break_communicator(fixed.communicator, {static_cast<errc>(fixed.code), std::move(text), fixed.lost}, false);
}

void engine::break_everything(const std::exception_ptr& failure) noexcept {
  rooms_.for_each_member([&](participant& member) {
    break_participant(member, failure, true);
    if (troubles_.has_room()) troubles_.owe_break(member.members->communicator, failure);
  });
}

void engine::break_participant(participant& member, const std::exception_ptr& failure, bool alone) noexcept {
  member.failure = failure;
  member.failed_alone = alone;
  if (member.told != nullptr) member.told->failed();
  for (auto each = member.active.begin(); each != member.active.end();) {
    operation& pending = *each;
    ++each;  // `cancel` may end, and so unlink, this one and no other
    cancel(pending, failure);
  }
  if (alone && member.here != nullptr) drop_early_grants(*member.here, stopped::alone);
}

void engine::cancel(operation& cancelled, const std::exception_ptr& failure) noexcept {
  if (cancelled.in_mailbox) cancelled.at->here->messages.remove_posted(static_cast<receive_operation&>(cancelled));
  const auto process = [&] { return cancelled.at->members->process[static_cast<std::size_t>(cancelled.peer)]; };
  auto* leaving = static_cast<departure*>(cancelled.transfer_state);
  switch (cancelled.now) {
    case operation::stage::landing: {
      auto& arriving = *static_cast<landing*>(cancelled.transfer_state);
      if (cancelled.at->failure == nullptr) {
        arriving.told_why = false;
        cancelled.failure = failure;
      }
      return withdraw(arriving);
    }
    case operation::stage::waiting_for_room:
      flow_.to(process()).messages.remove(cancelled);
      break;
    case operation::stage::waiting_for_grant:
      if (leaving == nullptr) {
        cancelled.at->here->waiting_sends.erase({cancelled.peer, cancelled.tag}, cancelled);
      } else {
        leaving->operation = nullptr;  // the receiver's grant or refusal removes it
        leaving->stopped = true;
      }
      break;
    case operation::stage::departing:
      leaving->stopped = true;
      if (cancelled.at->failure == nullptr) cancelled.failure = failure;
      if ((cancelled.at->failure == nullptr || cancelled.at->failed_alone) && !leaving->withdrawn) {
        // else the receiver, which fails too, asks
        leaving->withdrawn = true;
        answer_withdrawn(flow_.to(leaving->process), leaving->remote_id, leaving->sent, stopped::alone);
      }
      return settle(*leaving);
    case operation::stage::waiting_at_home: {
      auto* message = static_cast<unexpected_message*>(cancelled.transfer_state);
      if (message == nullptr) break;  // just taken by a receive that failed
      rooms_.find(key_of(*cancelled.at->members, cancelled.peer))->messages.remove_unexpected(*message);
      break;
    }
    case operation::stage::idle:
    case operation::stage::posted:
    case operation::stage::ended:
      break;
  }
  fail(cancelled, failure);
}

void engine::report_mismatch(participant& member, std::uint64_t mine, int source, std::uint64_t theirs) {
  const auto name = [&](std::uint64_t fingerprint) {
    return settings_.describe != nullptr ? settings_.describe(fingerprint) : std::to_string(fingerprint);
  };
  const std::string what = mine == theirs ? " with other counts" : "";
  break_communicator(
      member.members->communicator,
      {errc::mismatched_call, "rank " + std::to_string(member.rank) + " called " + name(mine) + " where rank " +
                                  std::to_string(source) + " called " + name(theirs) + what + " (communicator " +
                                  std::to_string(member.members->communicator) + ")"},
      true);
}

}  // namespace weft::fabric
