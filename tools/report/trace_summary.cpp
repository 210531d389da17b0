// SPDX-License-Identifier: Apache-2.0
#include "trace_summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace weft::tools {
namespace {

constexpr std::size_t most_slow = 10, longest_path = 256;

bool blocks(const traced_event& of) { return of.kind == trace_kind::call && !of.overlaps; }

/// Of one track, what lies within its blocking calls is theirs.
void add_track(const trace_track& of, std::map<std::string, call_total>& calls, rank_total& its) {
  call_total* current = nullptr;
  double call_end = 0, wait_end = 0;
  for (const traced_event& each : of.events) {
    if (blocks(each) && each.begin >= call_end) {
      current = &calls[each.name];
      ++current->calls;
      current->time += each.end - each.begin;
      its.in_calls += each.end - each.begin;
      call_end = each.end;
    } else if (each.kind == trace_kind::wait && current != nullptr && each.begin >= wait_end && each.begin < call_end) {
      const double waited = std::min(each.end, call_end) - each.begin;
      current->waiting += waited;
      its.waiting += waited;
      wait_end = each.end;
    } else if (each.kind == trace_kind::kernel) {
      its.kernels += each.end - each.begin;
    }
  }
}

std::vector<collective_instance> collectives_of(const job_trace_file& of) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, collective_instance> all;
  for (std::size_t t = 0; t < of.tracks.size(); ++t)
    for (const traced_event& each : of.tracks[t].events) {
      if (each.kind != trace_kind::call || each.sequence < 0 || each.communicator < 0 || of.tracks[t].rank < 0)
        continue;
      if (each.form == "planned") continue;  // a plan's starts have no order with others
      collective_instance& one = all[{each.communicator, each.sequence, each.name}];
      one.name = each.name;
      one.algorithm = each.algorithm;
      one.road = each.road;
      one.communicator = each.communicator;
      one.sequence = each.sequence;
      one.bytes = std::max(one.bytes, each.bytes);
      one.predicted = std::max(one.predicted, each.predicted);
      one.parts.push_back({of.tracks[t].rank, t, each.begin, each.end});
    }
  std::vector<collective_instance> result;
  for (auto& [key, each] : all) {
    if (each.parts.size() < 2) continue;
    std::ranges::sort(each.parts, {}, &collective_instance::part::begin);
    result.push_back(std::move(each));
  }
  return result;
}

/// The last to come of each, where it came later than the one before by more than their clocks may be off.
void add_lateness(const job_trace_file& of, const collective_instance& one, std::map<int, lateness>& late) {
  const auto& last = one.parts.back();
  const auto& before = one.parts[one.parts.size() - 2];
  const double error = of.clock_error(of.tracks[last.track].process, of.tracks[before.track].process);
  if (last.begin - before.begin <= error) return;
  lateness& its = late[last.rank];
  its.rank = last.rank;
  ++its.times;
  for (const auto& each : one.parts) its.others_waited += last.begin - each.begin;
}

/// Walks back from the last end: through the waits that ended last before, to who was waited for.
std::vector<path_part> path_of(const job_trace_file& of, const collective_instance& one) {
  std::map<int, collective_instance::part> by_rank;
  for (const auto& each : one.parts) by_rank[each.rank] = each;
  auto at = *std::ranges::max_element(one.parts, {}, &collective_instance::part::end);
  double time = at.end;
  std::vector<path_part> path;
  while (path.size() < longest_path) {
    const traced_event* heard = nullptr;
    for (const traced_event& each : of.tracks[at.track].events)
      if (each.kind == trace_kind::wait && each.begin >= at.begin && each.end <= time && !each.waits_for.empty() &&
          by_rank.contains(each.waits_for.front()) && each.waits_for.front() != at.rank)
        heard = &each;
    if (heard == nullptr) break;
    path.push_back({path_part::what::works, at.rank, heard->end, time});
    time = heard->end;
    at = by_rank.at(heard->waits_for.front());
    const double from = std::max(at.begin, heard->begin);
    if (at.begin >= heard->begin) {  // it came while it was waited for
      path.push_back({path_part::what::works, at.rank, std::min(at.begin, time), time});
      path.push_back({path_part::what::arrives, at.rank, std::min(at.begin, time), std::min(at.begin, time)});
      std::ranges::reverse(path);
      return path;
    }
    path.push_back({path_part::what::hears, at.rank, from, time});
    time = from;
  }
  path.push_back({path_part::what::works, at.rank, std::min(at.begin, time), time});
  std::ranges::reverse(path);
  return path;
}

double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::ranges::nth_element(of, middle);
  return *middle;
}

std::vector<prediction> predictions_of(const std::vector<collective_instance>& all) {
  std::map<std::tuple<std::string, std::uint64_t, std::string, std::string>,
           std::pair<std::vector<double>, std::vector<double>>>
      groups;
  for (const collective_instance& each : all) {
    if (each.predicted == 0) continue;
    auto& [measured, predicted] = groups[{each.name, each.bytes, each.algorithm, each.road}];
    measured.push_back(each.end() - each.last_begin());
    predicted.push_back(each.predicted);
  }
  std::vector<prediction> result;
  for (const auto& [key, values] : groups) {
    const auto& [name, bytes, algorithm, road] = key;
    result.push_back({name, algorithm, road, bytes, values.first.size(), median(values.first), median(values.second)});
  }
  return result;
}

}  // namespace

double collective_instance::end() const noexcept { return std::ranges::max(parts, {}, &part::end).end; }

trace_summary summarize(const job_trace_file& of) {
  trace_summary result;
  std::map<std::string, call_total> calls;
  for (const trace_track& each : of.tracks) {
    if (each.rank < 0 || each.events.empty()) continue;
    rank_total its{each.rank};
    its.span = std::ranges::max(each.events, {}, &traced_event::end).end - each.events.front().begin;
    add_track(each, calls, its);
    result.by_rank.push_back(its);
  }
  std::ranges::sort(result.by_rank, {}, &rank_total::rank);
  for (auto& [name, each] : calls) {
    each.name = name;
    result.by_call.push_back(each);
  }
  std::ranges::sort(result.by_call, std::greater<>(), &call_total::time);
  std::vector<collective_instance> all = collectives_of(of);
  result.collectives = all.size();
  std::map<int, lateness> late;
  for (const collective_instance& each : all) add_lateness(of, each, late);
  for (const auto& [rank, each] : late) result.late.push_back(each);
  result.predictions = predictions_of(all);
  std::ranges::sort(all, std::greater<>(), [](const collective_instance& i) { return i.end() - i.begin(); });
  all.resize(std::min(all.size(), most_slow));
  result.slowest = std::move(all);
  if (!result.slowest.empty()) result.path = path_of(of, result.slowest.front());
  return result;
}

}  // namespace weft::tools
