// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace weft::tools {
namespace {

using nlohmann::json;

trace_kind kind_of(const std::string& category) {
  if (category == "call") return trace_kind::call;
  if (category == "step") return trace_kind::step;
  if (category == "transfer") return trace_kind::transfer;
  if (category == "wait") return trace_kind::wait;
  if (category == "kernel") return trace_kind::kernel;
  if (category == "sleep") return trace_kind::sleep;
  return trace_kind::other;
}

/// What the other events of a trace say, track by track.
class reader {
 public:
  explicit reader(job_trace_file& to) : to_(to) {}

  void take(const json& event) {
    const std::string phase = event.at("ph");
    if (phase == "M") return take_name(event);
    if (phase == "X")
      return add(event, event.at("ts"), event.at("ts").get<double>() + event.at("dur").get<double>(), false);
    if (phase == "b") begun_[key_of(event)] = event;
    if (phase != "e") return;
    const auto found = begun_.find(key_of(event));
    if (found == begun_.end()) return;  // its begin was dropped
    add(found->second, found->second.at("ts"), event.at("ts"), true);
    begun_.erase(found);
  }

  void finish() {
    for (trace_track& each : to_.tracks)
      std::ranges::sort(each.events, {}, [](const traced_event& e) { return std::pair(e.begin, -e.end); });
  }

 private:
  static std::string key_of(const json& event) {
    return std::to_string(event.at("pid").get<int>()) + " " + event.at("cat").get<std::string>() + " " +
           event.at("id").dump();
  }

  trace_track& track_of(const json& event) {
    const std::pair<int, int> key{event.at("pid"), event.at("tid")};
    const auto [found, is_new] = index_.try_emplace(key, to_.tracks.size());
    if (is_new) {
      to_.tracks.emplace_back();
      to_.tracks.back().process = key.first;
    }
    return to_.tracks[found->second];
  }

  void take_name(const json& event) {
    if (event.at("name") != "thread_name") return;
    trace_track& its = track_of(event);
    its.name = event.at("args").at("name");
    its.rank = event.at("args").value("rank", -1);
  }

  void add(const json& event, double begin, double end, bool overlaps) {
    traced_event one;
    one.kind = kind_of(event.at("cat"));
    one.name = event.at("name");
    one.begin = begin;
    one.end = end;
    one.overlaps = overlaps;
    if (const auto args = event.find("args"); args != event.end()) {
      one.communicator = args->value("communicator", std::int64_t{-1});
      one.sequence = args->value("sequence", std::int64_t{-1});
      one.bytes = args->value("bytes", std::uint64_t{0});
      one.predicted = args->value("predicted_us", 0.0);
      one.algorithm = args->value("algorithm", "");
      one.road = args->value("road", "");
      one.form = args->value("form", "");
      one.waits_for = args->value("for", std::vector<int>{});
    }
    track_of(event).events.push_back(std::move(one));
  }

  job_trace_file& to_;
  std::map<std::pair<int, int>, std::size_t> index_;
  std::map<std::string, json> begun_;
};

void take_facts(const json& facts, job_trace_file& to) {
  to.program = facts.at("program");
  to.version = facts.at("version");
  to.job = facts.at("job");
  to.begun = facts.at("begun");
  to.ranks = facts.at("ranks");
  to.processes = facts.at("processes");
  to.missing = facts.at("missing").get<std::vector<int>>();
  for (const json& each : facts.at("hosts"))
    to.hosts.push_back({each.at("host"), each.at("processes"), each.value("error_us", 0.0)});
  std::map<std::pair<int, std::string>, std::uint64_t> dropped;
  for (const json& each : facts.at("tracks")) dropped[{each.at("pid"), each.at("name")}] = each.at("dropped");
  for (trace_track& each : to.tracks) each.dropped = dropped[{each.process, each.name}];
}

}  // namespace

double job_trace_file::clock_error(int one, int other) const {
  const auto host_of = [&](int process) {
    return std::ranges::find_if(hosts,
                                [&](const trace_host& h) { return std::ranges::count(h.processes, process) > 0; });
  };
  const auto a = host_of(one), b = host_of(other);
  if (a == b) return 0;
  return (a == hosts.end() ? 0 : a->error) + (b == hosts.end() ? 0 : b->error);
}

bool is_trace(const std::string& text) {
  return text.find("\"traceEvents\"") < 4096 && text.find_first_not_of(" \t\r\n") == text.find('{');
}

job_trace_file read_trace(const std::string& name, const std::string& text) {
  job_trace_file result;
  try {
    const json all = json::parse(text);
    reader events(result);
    for (const json& each : all.at("traceEvents")) events.take(each);
    take_facts(all.at("otherData"), result);
    events.finish();
  } catch (const json::exception& wrong) {
    throw std::invalid_argument(
        name + ": this is no whole trace of weft, as `weft run --trace FILE` writes it: " + wrong.what());
  }
  return result;
}

}  // namespace weft::tools
