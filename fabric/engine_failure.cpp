// Lost processes, communicators that failed, and how what is in flight ends then.
#include "engine.hpp"

#include <weft/runtime/error.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace weft::fabric {
namespace {

/// What is broadcast when a communicator fails; the text follows.
struct failure_note {
  std::uint64_t communicator = 0;
  std::int32_t code = 0;  // errc
  std::uint32_t text_bytes = 0;
};
constexpr std::size_t longest_text = 900;

}  // namespace

std::exception_ptr engine::lost_error(int process) const {
  const int rank = settings_.first_rank[static_cast<std::size_t>(process)];
  const peer& gone = *peers_[static_cast<std::size_t>(process)];
  return std::make_exception_ptr(
      peer_lost(rank, "rank " + std::to_string(rank) + " of the world (process " + std::to_string(process) + ") is lost: " + gone.why));
}

void engine::lose(int process, const std::string& why) {
  peer& gone = *peers_[static_cast<std::size_t>(process)];
  if (gone.lost || process == settings_.process) return;
  gone.lost = true;
  gone.why = why;
  const std::exception_ptr failure = lost_error(process);
  for (auto& [key, each] : rooms_) {
    participant* member = each->owner;
    if (member == nullptr || member->failure != nullptr) continue;
    const auto& processes = member->members->process;
    if (std::find(processes.begin(), processes.end(), process) != processes.end()) break_participant(*member, failure);
  }
  // Receives from it that a broken communicator has withdrawn already wait for an answer that will not come.
  landings_.for_each([&](landing& each) {
    if (each.process == process && each.withdrawing && !each.last_known) withdraw(each);
  });
  departures_.for_each([&](departure& each) {
    if (each.process == process && each.operation == nullptr) remove(each);
  });
  for (const outgoing& each : gone.messages)
    if (each.operation == nullptr && each.head.kind == message_kind::eager) buffered_ -= each.bytes;
  gone.control.clear();
  gone.messages.clear();
}

void engine::suspect(int process, std::error_code error) {
  lose(process, "its connection failed: " + error.message());
}

void engine::break_communicator(std::uint64_t communicator, errc code, const std::string& text, bool tell) {
  const auto failure = std::make_exception_ptr(error(code, text));
  if (!broken_.try_emplace(communicator, failure).second) return;
  if (tell && settings_.broadcast) {
    const std::string_view shortened = std::string_view(text).substr(0, longest_text);
    std::vector<std::byte> note(sizeof(failure_note) + shortened.size());
    write_part(note.data(), 0, failure_note{communicator, static_cast<std::int32_t>(code), static_cast<std::uint32_t>(shortened.size())});
    std::memcpy(note.data() + sizeof(failure_note), shortened.data(), shortened.size());
    settings_.broadcast(note);
  }
  for (auto& [key, each] : rooms_)
    if (key.communicator == communicator && each->owner != nullptr && each->owner->failure == nullptr)
      break_participant(*each->owner, failure);
}

void engine::take_note(std::span<const std::byte> note) {
  if (note.size() < sizeof(failure_note)) return;
  const auto fixed = read_part<failure_note>(note, 0);
  if (fixed.text_bytes != note.size() - sizeof(failure_note)) return;
  std::string text(fixed.text_bytes, '\0');
  std::memcpy(text.data(), note.data() + sizeof(failure_note), text.size());
  break_communicator(fixed.communicator, static_cast<errc>(fixed.code), text, false);
}

void engine::break_everything(const std::exception_ptr& failure) noexcept {
  for (auto& [key, each] : rooms_)
    if (each->owner != nullptr && each->owner->failure == nullptr) break_participant(*each->owner, failure);
}

void engine::break_participant(participant& member, const std::exception_ptr& failure) noexcept {
  member.failure = failure;
  for (auto each = member.active.begin(); each != member.active.end();) {
    operation& pending = *each;
    ++each;  // `cancel` may end, and so unlink, this one and no other
    cancel(pending, failure);
  }
}

void engine::cancel(operation& cancelled, const std::exception_ptr& failure) noexcept {
  if (cancelled.in_mailbox) cancelled.at->here->messages.remove_posted(static_cast<receive_operation&>(cancelled));
  const auto process = [&] { return cancelled.at->members->process[static_cast<std::size_t>(cancelled.peer)]; };
  auto* leaving = static_cast<departure*>(cancelled.transfer_state);
  switch (cancelled.now) {
    case operation::stage::landing: return withdraw(*static_cast<landing*>(cancelled.transfer_state));
    case operation::stage::waiting_for_room:
      std::erase_if(peers_[static_cast<std::size_t>(process())]->messages, [&](const outgoing& each) { return each.operation == &cancelled; });
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
      if (leaving->in_flight != 0 && !peers_[static_cast<std::size_t>(leaving->process)]->lost) return;  // settle() ends it
      leaving->operation = nullptr;
      if (leaving->withdrawn) remove(*leaving);
      break;
    case operation::stage::waiting_at_home: {
      auto* message = static_cast<unexpected_message*>(cancelled.transfer_state);
      find_room(cancelled.at->members->communicator, cancelled.peer)->messages.remove_unexpected(*message);
      break;
    }
    case operation::stage::idle:
    case operation::stage::posted:
    case operation::stage::ended: break;
  }
  fail(cancelled, failure);
}

void engine::report_mismatch(participant& member, std::uint64_t mine, int source, std::uint64_t theirs) {
  const auto name = [&](std::uint64_t fingerprint) {
    return settings_.describe != nullptr ? settings_.describe(fingerprint) : std::to_string(fingerprint);
  };
  const std::string what = mine == theirs ? " with other counts" : "";
  break_communicator(member.members->communicator, errc::mismatched_call,
                     "rank " + std::to_string(member.rank) + " called " + name(mine) + " where rank " + std::to_string(source) + " called " + name(theirs) +
                         what + " (communicator " + std::to_string(member.members->communicator) + ")",
                     true);
}

}  // namespace weft::fabric
