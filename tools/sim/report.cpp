// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <weft/schedules/timed_trees.hpp>

namespace weft::tools {
namespace {

using simulator::activity;
using simulator::activity_kind;

constexpr std::size_t most_lines = 40;
constexpr std::array kinds{activity_kind::send_overhead, activity_kind::transfer, activity_kind::receive_overhead,
                           activity_kind::compute};

/// A time for people: at most three digits behind the point.
std::string time_text(double time) {
  return schedules::time_text(std::abs(time) < 1e12 ? std::round(time * 1000) / 1000 : time);
}

/// A number that JSON writes as whole where it is.
nlohmann::ordered_json number(double time) {
  constexpr double exact = 9007199254740992;  // 2^53
  if (std::abs(time) <= exact && time == std::trunc(time)) return static_cast<std::int64_t>(time);
  return time;
}

std::string key(activity_kind kind) {
  std::string name = simulator::name(kind);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string line(const activity& a) {
  std::string text = "  [" + time_text(a.start) + ", " + time_text(a.end) + "]  rank " + std::to_string(a.rank) +
                     ", step " + std::to_string(a.step) + ": " + name(a.kind);
  if (a.kind == activity_kind::transfer)
    text += " of " + std::to_string(a.amount) + " bytes to rank " + std::to_string(a.peer);
  if (a.kind == activity_kind::send_overhead) text += " for rank " + std::to_string(a.peer);
  if (a.kind == activity_kind::receive_overhead) text += " from rank " + std::to_string(a.peer);
  return text + "\n";
}

std::string path_text(const simulator::critical_path& path) {
  std::string text = "critical path:";
  for (const activity_kind kind : kinds)
    if (const double time = path.time_of[static_cast<std::size_t>(kind)]; time > 0)
      text += std::string(" ") + name(kind) + " " + time_text(time) + ",";
  text += " other " + time_text(path.other) + " (gaps, handshakes, noise)\n";
  const std::size_t count = path.activities.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (count > most_lines && i == most_lines / 2) {
      text += "  ... " + std::to_string(path.length - most_lines) + " more ...\n";
      i = count - most_lines / 2;
    }
    text += line(path.activities[i]);
  }
  return text;
}

std::string ranks_text(const sim_report& report) {
  const auto& ranks = report.result.ranks;
  double least = report.result.idle(0, report.cpus), most = least, sum = 0;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const double idle = report.result.idle(rank, report.cpus);
    least = std::min(least, idle);
    most = std::max(most, idle);
    sum += idle;
  }
  std::string text = "idle: least " + time_text(least) + ", mean " +
                     time_text(sum / static_cast<double>(ranks.size())) + ", most " + time_text(most) + "\n";
  if (ranks.size() > most_lines) return text;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const auto& times = ranks[static_cast<std::size_t>(rank)];
    text += "  rank " + std::to_string(rank) + ": finishes at " + time_text(times.finish) + ", busy " +
            time_text(times.busy) + ", idle " + time_text(report.result.idle(rank, report.cpus)) + "\n";
  }
  return text;
}

/// Written as it goes: a value for each of a million ranks would take several times as much.
std::string rank_times_json(const sim_report& report) {
  std::string text = "\"rank_times\":[";
  for (int rank = 0; rank < static_cast<int>(report.result.ranks.size()); ++rank) {
    const auto& times = report.result.ranks[static_cast<std::size_t>(rank)];
    text += (rank > 0 ? ",{\"finish\":" : "{\"finish\":") + exact_text(times.finish) +
            ",\"busy\":" + exact_text(times.busy) + ",\"idle\":" + exact_text(report.result.idle(rank, report.cpus)) +
            "}";
  }
  return text + "]";
}

}  // namespace

std::string to_text(const sim_report& report) {
  std::string text = report.what + ", " + std::to_string(report.result.ranks.size()) + " ranks";
  if (report.bytes > 0) text += ", " + std::to_string(report.bytes) + " bytes";
  text += ": " + time_text(report.result.completion) + "\n" + std::to_string(report.result.messages) + " messages, " +
          std::to_string(report.steps) + " steps\n" + ranks_text(report);
  if (report.alike) text += "all ranks do the same at the same times: below, rank 0 stands for each\n";
  return text + (report.path ? path_text(*report.path)
                             : "critical path: not searched (of so many steps, or by LogGOPSim's model)\n");
}

std::string exact_text(double time) { return number(time).dump(); }

std::string to_json(const sim_report& report) {
  using nlohmann::ordered_json;
  ordered_json path;  // null
  if (report.path) {
    ordered_json activities = ordered_json::array();
    for (const activity& a : report.path->activities)
      activities.push_back({{"kind", key(a.kind)},
                            {"rank", a.rank},
                            {"step", a.step},
                            {"peer", a.peer < 0 ? ordered_json() : ordered_json(a.peer)},
                            {"start", number(a.start)},
                            {"end", number(a.end)}});
    for (const activity_kind kind : kinds)
      path[key(kind)] = number(report.path->time_of[static_cast<std::size_t>(kind)]);
    path["other"] = number(report.path->other);
    path["length"] = report.path->length;
    path["activities"] = std::move(activities);
  }
  ordered_json all{{"what", report.what},
                   {"ranks", report.result.ranks.size()},
                   {"bytes", report.bytes},
                   {"completion", number(report.result.completion)},
                   {"messages", report.result.messages},
                   {"steps", report.steps},
                   {"critical_path", std::move(path)}};
  std::string text = all.dump();
  text.back() = ',';
  return text + rank_times_json(report) + "}\n";
}

}  // namespace weft::tools
