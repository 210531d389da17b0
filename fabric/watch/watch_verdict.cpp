// Processes that do not hear each other and may live: one side of a network that has fallen apart goes on, and the
// other gives itself up, so that there are never two jobs.
//
// Who does not hear another one tells that to those that it reaches, and all of them judge a heartbeat later, when they
// know of all that are silent: more living than silent ones go on without these, and of as many those with the first
// process. What a process has said that is lost itself meanwhile does not count: whoever was stopped, and finds the
// others gone, goes on.
#include <utility>

#include "watch.hpp"

namespace weft::fabric {

void watch::suspect(int process, int by, const std::string& reason, const control_link* from) {
  if (leaving_ || given_up_ || process == setup_.process || !news_.alive(process) || !news_.alive(by)) return;
  if (suspicions_.empty()) verdict_at_ = clock::now() + options_.heartbeat;
  if (!suspicions_.try_emplace({process, by}, reason).second) return;
  pass_on(encode(control_message{.kind = control_kind::silent,
                                 .process = static_cast<std::uint32_t>(process),
                                 .sequence = static_cast<std::uint64_t>(by),
                                 .bytes = std::as_bytes(std::span(reason))}),
          from);
}

/// Of that process, and by it.
void watch::forget_suspicions(int process) {
  std::erase_if(suspicions_,
                [&](const auto& each) { return each.first.first == process || each.first.second == process; });
}

void watch::judge(clock::time_point now) {
  std::set<int> silent;
  for (const auto& [about, reason] : suspicions_) silent.insert(about.first);
  if (!goes_on(now, silent)) return give_itself_up(silent);
  const auto suspicions = std::exchange(suspicions_, {});
  for (const auto& [about, reason] : suspicions) {
    cut_off_.try_emplace(about.first, now);
    take_lost(about.first,
              name_of(about.first) + ": " + reason + " (noticed by process " + std::to_string(about.second) + ")",
              nullptr);
  }
}

bool watch::goes_on(clock::time_point now, const std::set<int>& silent) {
  // Of the same fall of the network, if some were heard a little longer than others.
  std::erase_if(cut_off_, [&](const auto& each) { return now - each.second > options_.peer_timeout; });
  std::set<int> others = silent;
  for (const auto& [process, since] : cut_off_) others.insert(process);
  std::size_t living = 0;
  int first = -1;
  for (int process = news_.processes() - 1; process >= 0; --process) {
    if (!news_.alive(process) || silent.contains(process)) continue;
    ++living;
    first = process;
  }
  return living > others.size() || (living == others.size() && first < *others.begin());
}

void watch::give_itself_up(const std::set<int>& silent) {
  const std::string reason = name_of(setup_.process) + ": it is cut off from " + std::to_string(silent.size()) +
                             " processes that may live, and go on without it: " + name_of(*silent.begin()) +
                             (silent.size() > 1 ? ", ..." : "");
  news_.learn_lost(setup_.process, reason);
  given_up();
  if (setup_.events.lost) setup_.events.lost(setup_.process, reason);
}

}  // namespace weft::fabric
