// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <weft/pages/chart.hpp>
#include <weft/pages/page.hpp>

namespace weft::tools {
namespace {

constexpr std::string_view begin_of_page = "<!DOCTYPE html>\n<!-- weft report -->\n";
constexpr std::string_view style = R"page(
:root { --wait: #d9822b; --kernel: #4a9a6b; --call: #3b78b5; --outside: #b7c0c9; }
@media (prefers-color-scheme: dark) { :root { --wait: #e6a45e; --kernel: #6cc08d; --call: #6ba8e5; --outside: #4a5764; } }
svg .now { stroke: var(--late); stroke-width: 1.5; }
.wait { fill: var(--wait); } .kernel { fill: var(--kernel); } .call { fill: var(--call); } .outside { fill: var(--outside); }
.late { fill: var(--late); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
)page";

std::string key(std::initializer_list<std::pair<const char*, const char*>> colours_of) {
  std::string text = "<p class=\"note\">";
  for (const auto& [kind, meaning] : colours_of)
    text += format(
        "<svg class=\"key\" width=\"12\" height=\"12\" style=\"display:inline-block;margin:0 .3em 0 1em\"><rect "
        "class=\"%s\" width=\"12\" height=\"12\"/></svg>%s",
        kind, meaning);
  return text + "</p>\n";
}

/// Where each rank's time went, a bar a rank.
std::string bars_of_ranks(const std::vector<rank_total>& ranks) {
  constexpr std::size_t most = 64;
  constexpr double left = 64, width = 900, row = 18;
  if (ranks.size() > most) return "";
  double longest = 0;
  for (const rank_total& each : ranks) longest = std::max(longest, each.span);
  std::string text = format("<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" role=\"img\" aria-label=\"time by rank\">\n",
                            left + width, row * static_cast<double>(ranks.size()) + 4, left + width);
  double y = 2;
  for (const rank_total& each : ranks) {
    text += format("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">rank %d</text>", left - 6, y + 12, each.rank);
    double x = left;
    const auto bar = [&](const char* kind, double time) {
      const double w = longest > 0 ? std::max(time, 0.0) / longest * width : 0;
      text += format(
          "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\"><title>rank %d: %s</title></rect>",
          kind, x, y, w, row - 4, each.rank, short_time(time).c_str());
      x += w;
    };
    bar("outside", each.outside());
    bar("call", each.in_calls - each.waiting);
    bar("wait", each.waiting);
    text += "\n";
    y += row;
  }
  return text + "</svg>\n" +
         key({{"outside", "outside of calls"}, {"call", "in calls"}, {"wait", "waiting for others"}});
}

std::string instance_name(const collective_instance& of) {
  return of.name + " " + std::to_string(of.sequence) + " of communicator " + std::to_string(of.communicator);
}

/// The slowest call, a lane a rank: when each came, and when it was over there.
std::string lanes_of(const collective_instance& of, const std::vector<path_part>& path) {
  constexpr std::size_t most = 64;
  constexpr double left = 64, width = 900, row = 18, top = 18;
  if (of.parts.size() > most) return "";
  std::vector<collective_instance::part> parts = of.parts;
  std::ranges::sort(parts, {}, &collective_instance::part::rank);
  const double begin = of.begin(), length = std::max(of.end() - begin, 1e-9);
  const auto x = [&](double time) { return left + std::clamp((time - begin) / length, 0.0, 1.0) * width; };
  const double height = top + row * static_cast<double>(parts.size()) + 4;
  std::string text =
      format("<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" role=\"img\" aria-label=\"the slowest call\">\n",
             left + width + 60, height, left + width + 60);
  for (int i = 0; i <= 4; ++i)
    text += format(
        "<text class=\"axis\" x=\"%.1f\" y=\"11\" text-anchor=\"middle\">%s</text><line x1=\"%.1f\" x2=\"%.1f\" "
        "y1=\"14\" y2=\"%.1f\"/>\n",
        left + width * i / 4, short_time(length * i / 4).c_str(), left + width * i / 4, left + width * i / 4, height);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double y = top + row * static_cast<double>(i);
    text += format(
        "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">rank %d</text><rect class=\"call\" x=\"%.2f\" y=\"%.1f\" "
        "width=\"%.2f\" height=\"%.0f\"><title>rank %d: %s</title></rect>\n",
        left - 6, y + 12, parts[i].rank, x(parts[i].begin), y, std::max(x(parts[i].end) - x(parts[i].begin), 1.0),
        row - 4, parts[i].rank, short_time(parts[i].end - parts[i].begin).c_str());
    for (const path_part& each : path)
      if (each.rank == parts[i].rank && each.end > each.begin)
        text += format("<rect class=\"late\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"4\"/>\n", x(each.begin),
                       y + 5, std::max(x(each.end) - x(each.begin), 1.0));
  }
  return text + "</svg>\n" + key({{"call", "in the call"}, {"late", "on the critical path"}});
}

std::string warnings_of(const job_trace_file& of) {
  std::string text;
  std::uint64_t dropped = 0;
  for (const trace_track& each : of.tracks) dropped += each.dropped;
  if (dropped != 0)
    text += "<p class=\"warning\"><span id=\"dropped\" data-value=\"" + std::to_string(dropped) + "\">" +
            std::to_string(dropped) +
            "</span> older events are not in this trace: each rank and thread keeps its latest ones "
            "(--weft-trace-buffer). What is below is of the times that are there.</p>\n";
  if (!of.missing.empty()) {
    std::string who;
    for (const int each : of.missing) who += (who.empty() ? "" : ", ") + std::to_string(each);
    text += "<p class=\"warning\">Processes that said nothing, being lost most likely: <span id=\"missing\">" + who +
            "</span></p>\n";
  }
  return text;
}

std::string tables_of_time(const trace_summary& of) {
  double all = 0;
  for (const rank_total& each : of.by_rank) all += each.span;
  std::string text = section("Where the time went");
  text += bars_of_ranks(of.by_rank);
  page_table ranks("by-rank",
                   {"rank", "time", "in calls", "of that waiting", "kernels", "outside of calls", "outside"});
  for (const rank_total& each : of.by_rank)
    ranks.row()
        .count(static_cast<std::uint64_t>(each.rank))
        .time(each.span)
        .time(each.in_calls)
        .time(each.waiting)
        .time(each.kernels)
        .time(each.outside())
        .share(each.outside(), each.span);
  text += ranks.end();
  page_table calls("by-call", {"call", "calls", "time of all ranks", "share", "of that waiting", "mean"});
  for (const call_total& each : of.by_call)
    calls.row()
        .words(each.name)
        .count(each.calls)
        .time(each.time)
        .share(each.time, all)
        .time(each.waiting)
        .time(each.time / static_cast<double>(each.calls));
  return text + calls.end();
}

std::string late_arrivals(const trace_summary& of) {
  std::string text = section("Late arrivals");
  text += format(
      "<p class=\"note\">Of <span id=\"collectives\" data-value=\"%llu\">%llu</span> collectives: who came last, by "
      "more than the hosts' clocks may be off, and how long the others waited for that, all together.</p>\n",
      static_cast<unsigned long long>(of.collectives), static_cast<unsigned long long>(of.collectives));
  page_table late("late", {"rank", "times last", "share", "the others waited"});
  std::vector<lateness> sorted = of.late;
  std::ranges::sort(sorted, std::greater<>(), &lateness::others_waited);
  for (const lateness& each : sorted)
    late.row()
        .count(static_cast<std::uint64_t>(each.rank))
        .count(each.times)
        .share(static_cast<double>(each.times), static_cast<double>(of.collectives))
        .time(each.others_waited);
  return text + late.end();
}

std::string slow_calls(const trace_summary& of) {
  if (of.slowest.empty()) return "";
  std::string text = section("The slowest collectives");
  page_table slow("slowest",
                  {"call", "bytes", "algorithm", "first came", "took", "of that until the last came", "who came last"});
  for (const collective_instance& each : of.slowest)
    slow.row()
        .words(instance_name(each))
        .number(static_cast<double>(each.bytes), short_size(each.bytes))
        .words(each.algorithm)
        .time(each.begin())
        .time(each.end() - each.begin())
        .time(each.last_begin() - each.begin())
        .number(each.parts.back().rank, "rank " + std::to_string(each.parts.back().rank));
  text += slow.end();
  text += "<p>What the end of <b>" + escaped(instance_name(of.slowest.front())) + "</b> hangs from:</p>\n";
  text += lanes_of(of.slowest.front(), of.path);
  page_table path("path", {"what", "rank", "from", "for"});
  for (const path_part& each : of.path)
    path.row()
        .words(each.kind == path_part::what::arrives ? "comes, after all that it waits for"
               : each.kind == path_part::what::works ? "goes on"
                                                     : "is heard from")
        .count(static_cast<std::uint64_t>(each.rank))
        .time(each.begin - of.slowest.front().begin())
        .time(each.end - each.begin);
  return text + path.end();
}

std::string predicted_beside_measured(const trace_summary& of) {
  if (of.predictions.empty()) return "";
  std::string text = section("Predicted beside measured");
  text += "<p class=\"note\">Medians; a call is measured from when the last rank came.</p>\n";
  page_table all("predictions",
                 {"call", "bytes", "algorithm", "road", "calls", "predicted", "measured", "measured over predicted"});
  for (const prediction& each : of.predictions)
    all.row()
        .words(each.name)
        .number(static_cast<double>(each.bytes), short_size(each.bytes))
        .words(each.algorithm)
        .words(each.road)
        .count(each.times)
        .time(each.predicted)
        .time(each.measured)
        .number(each.measured / each.predicted, format("%.2f", each.measured / each.predicted));
  return text + all.end();
}

std::string trace_part(const reported_trace& of) {
  const job_trace_file& trace = of.trace;
  std::string hosts;
  double error = 0;
  for (const trace_host& each : trace.hosts) {
    hosts += (hosts.empty() ? "" : ", ") + each.name;
    error = std::max(error, each.error);
  }
  std::string text = "<h1>" + escaped(trace.program) + "</h1>\n<p class=\"facts\">" +
                     format("%d ranks in %d processes on ", trace.ranks, trace.processes) + escaped(hosts) +
                     ", begun " + escaped(trace.begun) + "; job " + escaped(trace.job) + ", weft " +
                     escaped(trace.version) + ", " + escaped(of.file) +
                     (error > 0 ? "; clocks are off by at most " + short_time(error) : "") + "</p>\n";
  return text + warnings_of(trace) + tables_of_time(of.summary) + late_arrivals(of.summary) + slow_calls(of.summary) +
         predicted_beside_measured(of.summary);
}

line_chart chart_of(const bench_sweep& of) {
  line_chart chart{of.collective + " by size",
                   {"vector", scale::binary, [](double bytes) { return short_size(std::llround(bytes)); }},
                   {"median time", scale::decimal, short_time},
                   {}};
  for (const bench_curve& curve : of.curves) {
    chart.lines.push_back({curve.label, {}});
    for (const auto& p : curve.points)
      chart.lines.back().points.emplace_back(std::max(static_cast<double>(p.bytes), 1.0), std::max(p.median, 1e-3));
  }
  return chart;
}

std::string sweep_part(const bench_sweep& of, std::size_t number) {
  std::string text = section(of.collective + " between " + std::to_string(of.ranks) + " ranks");
  text += to_svg(chart_of(of));
  std::vector<std::uint64_t> sizes;
  for (const bench_curve& curve : of.curves)
    for (const auto& p : curve.points) sizes.push_back(p.bytes);
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  text += format("<table id=\"sweep-%zu\"><thead><tr><th>bytes</th>", number);
  for (const bench_curve& curve : of.curves) text += "<th>" + escaped(curve.label) + "</th>";
  text += "</tr></thead><tbody>\n";
  for (const std::uint64_t bytes : sizes) {
    text +=
        format("<tr><td data-value=\"%llu\">", static_cast<unsigned long long>(bytes)) + short_size(bytes) + "</td>";
    for (const bench_curve& curve : of.curves) {
      const auto found = std::ranges::find(curve.points, bytes, &bench_curve::point::bytes);
      text += found == curve.points.end()
                  ? "<td></td>"
                  : format("<td data-value=\"%.17g\">", found->median) + short_time(found->median) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

}  // namespace

std::string report_page(const std::vector<reported_trace>& traces, const std::vector<bench_sweep>& sweeps) {
  std::string text = std::string(begin_of_page) + page_head("weft report", style);
  for (const reported_trace& each : traces) text += trace_part(each);
  for (std::size_t i = 0; i < sweeps.size(); ++i) text += sweep_part(sweeps[i], i);
  return text + "</html>\n";
}

bool is_report_page(const std::string& text) { return text.starts_with(begin_of_page); }

}  // namespace weft::tools
