// SPDX-License-Identifier: Apache-2.0
// What a monitor learns, from others and by itself, and how it passes it on.
#include <weft/runtime/error.hpp>

#include "watch.hpp"

namespace weft::fabric {

/// Takes a message off a connection; the first one completes the connector's handshake.
bool watch::take_news(control_link& link) {
  auto rest = link.incoming();
  const std::size_t before = rest.size();
  const auto message = take_message(rest);
  if (!message) return false;
  if (link.at == stage::confirming) stand(link);
  learn(link, *message);
  link.understood(before - rest.size());
  return true;
}

void watch::learn(control_link& from, const control_message& message) {
  if (message.kind == control_kind::alive || news_.lost(from.peer)) return;
  if (message.process >= setup_.all.size())
    throw error(errc::protocol, "control message about process " + std::to_string(message.process) + " of " +
                                    std::to_string(setup_.all.size()));
  const int process = static_cast<int>(message.process);
  const bool own = process == setup_.process;
  if (message.kind == control_kind::lost) {
    const std::string reason(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size());
    take_lost(process, reason, &from);
  } else if (own) {
    return;  // an echo, or asked about while it was held
  } else if (message.kind == control_kind::left) {
    take_left(process, &from);
  } else if (message.kind == control_kind::vote) {
    take_vote(from, message);
  } else if (message.kind == control_kind::ask) {
    take_question(from, message);
  } else if (message.kind == control_kind::held) {
    take_answer(from, message);
  } else if (const auto frame = news_.learn_note(process, message.sequence, message.bytes); !frame.empty()) {
    pass_on(frame, &from);
    if (setup_.events.note) setup_.events.note(process, message.bytes);
  }
}

void watch::declare_lost(int process, const std::string& reason) {
  if (leaving_ || given_up_) return;
  take_lost(process, name_of(process) + ": " + reason + " (noticed by process " + std::to_string(setup_.process) + ")",
            nullptr);
}

void watch::take_lost(int process, const std::string& reason, const control_link* from) {
  if (leaving_ || given_up_) return;
  const auto frame = news_.learn_lost(process, reason);
  if (frame.empty()) return;
  if (process == setup_.process) given_up();
  pass_on(frame, from);
  forget(process);
  if (setup_.events.lost) setup_.events.lost(process, reason);
  if (process == setup_.process) return;
  verdict_.lose(process, clock::now());
  obey_verdict();
}

void watch::take_left(int process, const control_link* from) {
  const auto frame = news_.learn_left(process);
  if (frame.empty()) return;
  pass_on(frame, from);
  targets_.erase(process);  // its connection ends when it has seen that we heard it
  stale_ = true;
  silent_.erase(process);
  if (setup_.events.left) setup_.events.left(process);
  verdict_.lose(process, clock::now());
  obey_verdict();
}

void watch::pass_on(const job_news::frame& frame, const control_link* from) {
  for (const auto& [id, link] : links_) {
    if (link.get() == from || (link->at != stage::standing && link->at != stage::confirming)) continue;
    link->send(frame);
    update_polling(id, *link);
  }
}

/// A lost process has been told with the others (it may only be cut off); nothing more is expected of it.
void watch::forget(int process) {
  for (const auto& [id, link] : links_)
    if (link->peer == process) link->at = stage::over;
  targets_.erase(process);
  silent_.erase(process);
  stale_ = true;
}

/// The others go on without this process: what it would see of them from now on says nothing.
void watch::given_up() {
  given_up_ = true;
  for (const auto& [id, link] : links_) link->at = stage::over;
  targets_.clear();
  silent_.clear();
  listeners_.clear();
  listening_ = false;
}

/// The end of a pidfd. A goodbye that came before it is on the connection: that is read to its end first.
void watch::process_ended(int process) {
  if (const auto found = targets_.find(process); found != targets_.end()) {
    found->second.process.reset();  // it stays readable
    found->second.ended = true;
    found->second.give_up = std::min(found->second.give_up, clock::now() + time_for_goodbye());
  }
  for (const auto& [id, link] : links_) {
    if (link->peer != process || link->at != stage::standing) continue;
    bool open = true;
    do {
      open = link->receive();
      understand(*link);
    } while (open && link->more() && link->at == stage::standing);
    if (news_.alive(process)) declare_lost(process, "its process ended");
    return;
  }
}

std::string watch::name_of(int process) const {
  const process_record& record = setup_.all[static_cast<std::size_t>(process)];
  return "process " + std::to_string(process) + " on host " + record.host.name + " (pid " + std::to_string(record.pid) +
         ")";
}

}  // namespace weft::fabric
