// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <set>
#include <utility>
#include <weft/roll_call/summary.hpp>

#include "frame_names.hpp"

namespace weft::tools {
namespace {

/// Ranks that are not heard, of which no more are listed.
constexpr std::size_t most_absent = 1000;

/// A process says what it likes: nothing of it reaches a terminal but letters.
std::string printable(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f') c = '?';
  return text;
}

std::string time_of(std::uint64_t seconds) {
  if (seconds < 180) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min";
}

std::string bytes_of(std::uint64_t bytes) { return std::to_string(bytes) + " B"; }

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "5" or "0 to 4, 6": of ascending numbers.
std::string listed(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string ranks(const std::vector<int>& numbers) {
  return (numbers.size() == 1 ? "rank " : "ranks ") + listed(numbers);
}

/// Where the program is: the innermost of its own frames; null where that is not known.
const roll_frame* own_frame(const roll_rank& of) {
  const auto found = std::ranges::find(of.frames, frame_owner::program, &roll_frame::whose);
  return found != of.frames.end() ? &*found : nullptr;
}

/// The call of weft that its program is in: the outermost of weft's frames before that; null: in none.
const roll_frame* weft_frame(const roll_rank& of) {
  const roll_frame* found = nullptr;
  for (const roll_frame& each : of.frames) {
    if (each.whose == frame_owner::program) return found;
    if (each.whose == frame_owner::weft) found = &each;
  }
  return found;
}

std::string place_of(const roll_frame& of) { return base_of(of.file) + ":" + std::to_string(of.line); }

std::string short_name(const std::string& function) { return function.substr(0, function.find_first_of("(<")); }

/// Behind what a rank does: " at solver.cpp:88".
std::string at_place(const roll_rank& of) {
  const roll_frame* const frame = own_frame(of);
  if (frame == nullptr) return {};
  return frame->file.empty() ? " in " + plain_name(frame->function) : " at " + place_of(*frame);
}

std::string message_text(const roll_operation& of, std::uint64_t communicator) {
  std::string text = of.kind + (of.kind == "send" ? "(to " : "(from ");
  text += of.peer < 0 ? "any" : std::to_string(of.peer);
  if (of.kind != "probe") text += of.tag < 0 ? ", any tag" : ", tag " + std::to_string(of.tag);
  if (of.kind != "probe") text += ", " + bytes_of(of.bytes);
  if (communicator != 0) text += ", communicator " + std::to_string(communicator);
  return text + ")";
}

std::string call_text(const roll_member& of) {
  return of.call + " " + std::to_string(of.number()) + " of communicator " + std::to_string(of.communicator);
}

/// Of a receive that nothing matches: the other tag of a message that has come from there. Empty: there is none.
std::string other_tag_text(const roll_operation& of, const roll_member& at) {
  if (of.kind != "recv" || of.stage != "unmatched") return {};
  const auto came = std::ranges::find_if(
      at.operations, [&](const roll_operation& each) { return each.kind == "message" && each.peer == of.peer; });
  return came == at.operations.end() ? "" : ", where a message with tag " + std::to_string(came->tag) + " has come,";
}

/// What the rank waits in: the calls that it is in, as text. Empty: none is known.
std::string waiting_text(const roll_rank& of) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " and ") + more; };
  for (const roll_member& each : of.members) {
    if (!each.call.empty()) add(call_text(each));
    if (!each.agrees.empty()) add(each.agrees + " of communicator " + std::to_string(each.communicator));
    for (const roll_operation& its : each.operations)
      if (its.blocks || (its.kind == "probe" && each.call.empty()))
        add(message_text(its, each.communicator) + other_tag_text(its, each));
  }
  if (text.empty() && !of.members.empty() && !of.members[0].divides.empty()) add(of.members[0].divides);
  return text;
}

/// What it does, behind "it ": "is in recv(from 0, tag 7, 8 B) for 12 s at solver.cpp:88".
std::string doing(const roll_rank& of, std::uint64_t quiet) {
  if (!of.phase.empty()) return of.phase + at_place(of);
  const std::string time = " for " + time_of(quiet);
  const std::string kept = of.kept_by < 0 ? "" : ", while rank " + std::to_string(of.kept_by) + " keeps its thread";
  std::string stopped;
  if (!of.parked && (of.state == 'T' || of.state == 't'))
    stopped = of.state == 'T' ? "is stopped" : "is stopped by a debugger";
  const std::string waits = waiting_text(of);
  if (!waits.empty())
    return (stopped.empty() ? "" : stopped + ", and ") + "is in " + waits + time + at_place(of) + kept;
  if (!stopped.empty()) return stopped + at_place(of);
  if (const roll_frame* const call = weft_frame(of))
    return "is in " + plain_name(call->function) + time + at_place(of) + kept;
  if (of.parked) return "waits" + time + at_place(of) + kept;
  const std::string where = at_place(of);
  if (of.state == 'R') return "runs the program's own code" + where;
  if (of.state == 'D') return "waits for a device" + where;
  if (of.state == 'Z' || of.state == 'X' || of.state == '?') return "has ended";
  return (of.frames.empty() ? "is not in a call that blocks"
                            : "sleeps outside of weft in " + plain_name(of.frames[0].function)) +
         where;
}

/// Ranks that do the same, for as long as the latest of them.
struct alike {
  std::uint64_t quiet = ~std::uint64_t{0};
  const roll_rank* one = nullptr;
  std::vector<int> ranks{};

  void add(const roll_rank& more) {
    quiet = std::min(quiet, more.quiet);
    one = &more;
    ranks.push_back(more.rank);
  }
  std::string doing() const { return tools::doing(*one, quiet); }
};

/// In the order of the first of each.
std::vector<alike> group(const std::map<int, const roll_rank*>& all) {
  std::vector<alike> groups;
  std::map<std::string, std::size_t> known;
  for (const auto& [rank, its] : all) {
    const auto [found, is_new] = known.emplace(doing(*its, 0), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].add(*its);
  }
  return groups;
}

/// A communicator as all its ranks that are heard see it.
struct communicator_view {
  int size = 0;
  std::map<int, std::pair<const roll_member*, const roll_rank*>> ranks;  ///< by their numbers there
};

std::map<std::uint64_t, communicator_view> views_of(const std::vector<roll_process>& roll) {
  std::map<std::uint64_t, communicator_view> views;
  for (const roll_process& process : roll)
    for (const roll_rank& rank : process.ranks)
      for (const roll_member& member : rank.members) {
        communicator_view& view = views[member.communicator];
        view.size = std::max(view.size, member.size);
        view.ranks[member.rank] = {&member, &rank};
      }
  return views;
}

/// Whether a call's number is behind another's; they wrap.
bool is_behind(std::uint32_t one, std::uint32_t other) { return static_cast<std::int32_t>(one - other) < 0; }

bool waits_in_collective(const roll_member& of) {
  if (of.begun == 0) return false;
  const auto collective = [](const roll_operation& each) { return each.sequence >= 0; };
  return !of.call.empty() || of.started != 0 || std::ranges::any_of(of.operations, collective);
}

/// The name of a collective, from its terms: "allreduce(sum, ...".
std::string name_of(const roll_member& of) {
  if (!of.call.empty()) return of.call;
  return of.latest.empty() ? "call" : short_name(of.latest);
}

/// The calls that some wait in and others have not entered; `told` gets the ranks of the job that have been named.
std::string missing_text(std::uint64_t id, const communicator_view& view, std::set<int>& told) {
  // The lowest call that somebody waits in and somebody has not entered: those behind it come of it.
  const roll_member* awaited = nullptr;
  for (const auto& [rank, its] : view.ranks) {
    const roll_member& waits = *its.first;
    if (!waits_in_collective(waits) || (awaited != nullptr && !is_behind(waits.number(), awaited->number()))) continue;
    const auto has_not = [&](const auto& other) { return is_behind(other.second.first->number(), waits.number()); };
    if (std::ranges::any_of(view.ranks, has_not)) awaited = &waits;
  }
  if (awaited == nullptr) return {};
  const std::string call =
      name_of(*awaited) + " " + std::to_string(awaited->number()) + " of communicator " + std::to_string(id);
  std::size_t others = 0;
  for (const auto& [rank, its] : view.ranks)
    others += its.first->number() == awaited->number() && waits_in_collective(*its.first) ? 1 : 0;
  const std::string wait = std::to_string(others) + (others == 1 ? " other waits there" : " others wait there");
  std::map<int, const roll_rank*> missing;
  for (const auto& [rank, its] : view.ranks)
    if (is_behind(its.first->number(), awaited->number())) missing[its.second->rank] = its.second;
  std::string text;
  for (const alike& each : group(missing)) {
    const bool one = each.ranks.size() == 1;
    told.insert(each.ranks.begin(), each.ranks.end());
    text += ranks(each.ranks) + (one ? " has" : " have") + " not entered " + call + "; " + (one ? "it " : "each ") +
            each.doing() + "; " + wait + "\n";
  }
  return text;
}

/// Where ranks make different calls as the same one.
std::string mismatch_text(std::uint64_t id, const communicator_view& view) {
  std::string text;
  std::map<std::uint32_t, std::pair<const roll_member*, const roll_rank*>> firsts;
  for (const auto& [rank, its] : view.ranks) {
    if (!waits_in_collective(*its.first) || its.first->latest.empty()) continue;
    const auto [found, is_new] = firsts.emplace(its.first->number(), its);
    if (is_new || found->second.first->latest == its.first->latest) continue;
    text += "rank " + std::to_string(found->second.second->rank) + " and rank " + std::to_string(its.second->rank) +
            " make different calls as number " + std::to_string(its.first->number()) + " of communicator " +
            std::to_string(id) + ": " + found->second.first->latest + ", and " + its.first->latest + "\n";
    break;
  }
  return text;
}

std::string absent_text(std::uint64_t id, const communicator_view& view, std::set<int>& told) {
  if (id != 0 ||
      std::ranges::none_of(view.ranks, [](const auto& each) { return waits_in_collective(*each.second.first); }))
    return {};
  std::vector<int> absent;
  for (int rank = 0; rank < view.size && absent.size() < most_absent; ++rank)
    if (!view.ranks.contains(rank) && !told.contains(rank)) absent.push_back(rank);
  if (absent.empty()) return {};
  return ranks(absent) + (absent.size() == most_absent ? " and others" : "") + " of communicator " +
         std::to_string(id) + (absent.size() == 1 ? " is not heard here\n" : " are not heard here\n");
}

std::string silent_text(const std::vector<roll_process>& roll, std::set<int>& told) {
  std::string text;
  for (const roll_process& process : roll) {
    std::vector<int> silent;
    for (const roll_rank& each : process.ranks)
      if (each.members.empty() && !each.phase.empty()) silent.push_back(each.rank);
    const std::string pid = "process " + std::to_string(process.number) + " (pid " + std::to_string(process.pid) +
                            ", host " + process.host + ")";
    told.insert(silent.begin(), silent.end());
    if (process.ranks.empty())
      text += pid + " " + process.phase + "\n";
    else if (!silent.empty())
      text += ranks(silent) + " cannot be asked: " + (silent.size() == 1 ? "its " : "their ") + pid + " " +
              process.phase + at_place(process.ranks[0]) + "\n";
  }
  return text;
}

/// Messages that ranks wait for, of those that are not named yet.
std::string message_waits(const std::map<std::uint64_t, communicator_view>& views, const std::set<int>& told) {
  std::string text;
  for (const auto& [id, view] : views)
    for (const auto& [rank, its] : view.ranks)
      for (const roll_operation& each : its.first->operations) {
        if (!each.blocks || told.contains(its.second->rank)) continue;
        text += "rank " + std::to_string(its.second->rank) + " is in " + message_text(each, id) + " for " +
                time_of(its.second->quiet) + at_place(*its.second);
        const auto peer = view.ranks.find(each.peer);
        if (peer != view.ranks.end())
          text += "; rank " + std::to_string(peer->second.second->rank) + " " +
                  doing(*peer->second.second, peer->second.second->quiet);
        text += "\n";
      }
  return text;
}

std::string heading(const std::vector<roll_process>& roll) {
  std::set<std::string> hosts;
  std::size_t count = 0;
  std::uint64_t quiet = ~std::uint64_t{0};
  int processes = 0;
  for (const roll_process& each : roll) {
    hosts.insert(each.host);
    count += each.ranks.size();
    processes = std::max(processes, each.of);
    for (const roll_rank& rank : each.ranks)
      if (rank.phase.empty()) quiet = std::min(quiet, rank.quiet);
  }
  std::string text = "job " + roll[0].job + ": " + count_of(count, "rank") + " in " + std::to_string(roll.size()) +
                     " of " + std::to_string(processes) + " processes on ";
  text += count_of(hosts.size(), "host");
  if (quiet != ~std::uint64_t{0} && quiet > 1) text += "; nothing has moved for " + time_of(quiet);
  return text + "\n";
}

std::string problems_text(const std::vector<roll_process>& roll) {
  std::map<std::string, std::vector<int>> who;
  for (const roll_process& process : roll)
    for (const std::string& each : process.problems) who[each].push_back(process.number);
  std::string text;
  for (const auto& [what, numbers] : who)
    text += (numbers.size() == 1 ? "process " : "processes ") + listed(numbers) + ": " + what + "\n";
  return text;
}

std::string in_full(const roll_rank& of, const roll_process& at) {
  std::string text = "rank " + std::to_string(of.rank) + " (pid " + std::to_string(at.pid) + ", host " + at.host +
                     ") " + doing(of, of.quiet) + "\n";
  for (const roll_member& each : of.members) {
    text += "  communicator " + std::to_string(each.communicator) + ": rank " + std::to_string(each.rank) + " of " +
            std::to_string(each.size) + ", " + std::to_string(each.begun) + " collectives begun";
    if (!each.latest.empty()) text += ", the latest " + std::to_string(each.number()) + ", " + each.latest;
    if (each.started != 0) text += "; " + count_of(each.started, "started call") + " not over";
    if (!each.unknown.empty()) text += "; its messages are not known: " + each.unknown;
    text += "\n";
    for (const roll_operation& its : each.operations) {
      text += "    " + message_text(its, each.communicator);
      if (its.sequence >= 0) text += " of collective " + std::to_string(its.sequence);
      if (its.kind == "message") text += " has come, and no receive matches it";
      text += (its.stage == "unmatched" ? ", nothing has come" : "") + std::string(its.blocks ? ", blocks" : "") + "\n";
    }
  }
  return text + stack_text(of);
}

}  // namespace

std::string stack_text(const roll_rank& of) {
  std::string text;
  const auto outermost =
      std::ranges::find(of.frames.rbegin(), of.frames.rend(), frame_owner::program, &roll_frame::whose);
  const auto shown =
      static_cast<std::size_t>(outermost == of.frames.rend() ? std::ssize(of.frames) : of.frames.rend() - outermost);
  for (std::size_t i = 0; i < shown; ++i) {
    const roll_frame& each = of.frames[i];
    text += "  #" + std::to_string(i) + " " +
            (each.whose == frame_owner::program ? each.function : plain_name(each.function));
    if (!each.file.empty())
      text += " at " + each.file + ":" + std::to_string(each.line);
    else if (!each.module.empty())
      text += " in " + each.module;
    text += "\n";
  }
  if (shown < of.frames.size())
    text += "  and " + std::to_string(of.frames.size() - shown) + " that have called these\n";
  return printable(text);
}

std::string who_is_stuck(const std::vector<roll_process>& roll) {
  const auto views = views_of(roll);
  std::set<int> told;
  std::string text = silent_text(roll, told);
  for (const auto& [id, view] : views) {
    text += missing_text(id, view, told);
    text += mismatch_text(id, view);
    text += absent_text(id, view, told);
  }
  return text + message_waits(views, told);
}

std::string in_short(const std::vector<roll_process>& roll) {
  if (roll.empty()) return {};
  std::string text = heading(roll) + who_is_stuck(roll);
  std::map<int, const roll_rank*> all;
  for (const roll_process& process : roll)
    for (const roll_rank& rank : process.ranks) all[rank.rank] = &rank;
  for (const alike& each : group(all))
    text += "  " + ranks(each.ranks) + ": " + (each.ranks.size() == 1 ? "" : "each ") + each.doing() + "\n";
  return printable(text + problems_text(roll));
}

std::string in_full(const std::vector<roll_process>& roll) {
  if (roll.empty()) return {};
  std::string text = heading(roll) + who_is_stuck(roll) + "\n";
  std::map<int, std::pair<const roll_rank*, const roll_process*>> all;
  for (const roll_process& process : roll)
    for (const roll_rank& rank : process.ranks) all[rank.rank] = {&rank, &process};
  for (const auto& [rank, its] : all) text += in_full(*its.first, *its.second);
  return printable(text + problems_text(roll));
}

}  // namespace weft::tools
