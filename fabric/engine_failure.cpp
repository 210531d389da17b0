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
  std::int32_t code = 0;  // errc
  std::uint32_t text_bytes = 0;
};
constexpr std::size_t longest_text = 900;

}  // namespace

std::exception_ptr engine::lost_error(int process) const {
  const int rank = settings_.first_rank[static_cast<std::size_t>(process)];
  const peer& gone = *peers_[static_cast<std::size_t>(process)];
  return std::make_exception_ptr(peer_lost(rank, "rank " + std::to_string(rank) + " of the world (process " +
                                                     std::to_string(process) + ") is lost: " + gone.why));
}

void engine::lose(int process, const std::string& why) {
  peer& gone = *peers_[static_cast<std::size_t>(process)];
  if (gone.lost) return;
  gone.lost = true;
  gone.why = why;
  const std::exception_ptr failure = lost_error(process);
  for (auto& [key, each] : rooms_) {
    participant* member = each->owner;
    if (member == nullptr || member->failure != nullptr) continue;
    const auto& processes = member->members->process;
    if (std::find(processes.begin(), processes.end(), process) != processes.end())
      break_participant(*member, failure, false);
  }
  doom_payloads(process);
  for (const outgoing& each : gone.messages)
    if (each.operation == nullptr && each.head.kind == message_kind::eager) buffered_ -= each.bytes;
  gone.control.clear();
  gone.messages.clear();
  if (process != settings_.process) return;
  for (const auto& other : peers_) lose(other->process, "it has given this process up: " + why);
}

void engine::suspect(int process, const std::string& why) {
  if (!peers_[static_cast<std::size_t>(process)]->lost) suspects_.push_back({process, why});
}

void engine::lose_suspects() noexcept {
  std::vector<suspicion> suspects;
  suspects.swap(suspects_);
  for (const suspicion& each : suspects) {
    if (peers_[static_cast<std::size_t>(each.process)]->lost) continue;
    if (settings_.suspected) settings_.suspected(each.process, each.why);
    lose(each.process, each.why);
  }
}

void engine::drop_early_grants(room& of, bool alone) {
  departures_.for_each([&](departure& each) {
    if (each.early_in != &of) return;
    answer_withdrawn(*peers_[static_cast<std::size_t>(each.process)], each.remote_id, 0, alone);
    remove(each);
  });
}

bool engine::failed_alone(const header& grant) const noexcept {
  const room_key key{grant.communicator, grant.source};
  if (const auto left = left_.find(key); left != left_.end()) return !left->second;
  const auto found = rooms_.find(key);
  return found != rooms_.end() && found->second->owner != nullptr && found->second->owner->failed_alone;
}

void engine::break_communicator(std::uint64_t communicator, errc code, const std::string& text, bool tell) {
  const auto failure = std::make_exception_ptr(error(code, text));
  if (!broken_.try_emplace(communicator, failure).second) return;
  if (tell && settings_.broadcast) {
    const std::string_view shortened = std::string_view(text).substr(0, longest_text);
    std::vector<std::byte> note(sizeof(failure_note) + shortened.size());
    write_part(
        note.data(), 0,
        failure_note{communicator, static_cast<std::int32_t>(code), static_cast<std::uint32_t>(shortened.size())});
    std::memcpy(note.data() + sizeof(failure_note), shortened.data(), shortened.size());
    settings_.broadcast(note);
  }
  for (auto& [key, each] : rooms_)
    if (key.communicator == communicator && each->owner != nullptr && each->owner->failure == nullptr)
      break_participant(*each->owner, failure, false);
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
    if (each->owner != nullptr && each->owner->failure == nullptr) break_participant(*each->owner, failure, true);
}

void engine::break_participant(participant& member, const std::exception_ptr& failure, bool alone) noexcept {
  member.failure = failure;
  member.failed_alone = alone;
  for (auto each = member.active.begin(); each != member.active.end();) {
    operation& pending = *each;
    ++each;  // `cancel` may end, and so unlink, this one and no other
    cancel(pending, failure);
  }
  if (alone && member.here != nullptr) drop_early_grants(*member.here, true);
}

void engine::cancel(operation& cancelled, const std::exception_ptr& failure) noexcept {
  if (cancelled.in_mailbox) cancelled.at->here->messages.remove_posted(static_cast<receive_operation&>(cancelled));
  const auto process = [&] { return cancelled.at->members->process[static_cast<std::size_t>(cancelled.peer)]; };
  auto* leaving = static_cast<departure*>(cancelled.transfer_state);
  switch (cancelled.now) {
    case operation::stage::landing: {
      auto& arriving = *static_cast<landing*>(cancelled.transfer_state);
      if (cancelled.at->failure == nullptr) arriving.told_why = false;
      return withdraw(arriving);
    }
    case operation::stage::waiting_for_room:
      std::erase_if(peers_[static_cast<std::size_t>(process())]->messages,
                    [&](const outgoing& each) { return each.operation == &cancelled; });
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
      if (cancelled.at->failed_alone && !leaving->withdrawn) {  // else the receiver, which fails too, asks
        leaving->withdrawn = true;
        answer_withdrawn(*peers_[static_cast<std::size_t>(leaving->process)], leaving->remote_id, leaving->sent, true);
      }
      return settle(*leaving);
    case operation::stage::waiting_at_home: {
      auto* message = static_cast<unexpected_message*>(cancelled.transfer_state);
      if (message == nullptr) break;  // just taken by a receive that failed
      find_room(cancelled.at->members->communicator, cancelled.peer)->messages.remove_unexpected(*message);
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
  break_communicator(member.members->communicator, errc::mismatched_call,
                     "rank " + std::to_string(member.rank) + " called " + name(mine) + " where rank " +
                         std::to_string(source) + " called " + name(theirs) + what + " (communicator " +
                         std::to_string(member.members->communicator) + ")",
                     true);
}

}  // namespace weft::fabric
