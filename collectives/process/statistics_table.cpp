// SPDX-License-Identifier: Apache-2.0
#include "statistics_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>

namespace weft::detail {
namespace {

enum class unit { count, bytes };

struct number {
  std::string what;
  unit in = unit::count;
  std::uint64_t value = 0;
  bool is_peak = false;
};

std::string text_of(std::uint64_t value, unit in) {
  if (in == unit::count) return std::to_string(value);
  constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (value < 1024) return std::to_string(value) + " B";
  std::size_t of = 0;
  auto scaled = static_cast<double>(value);
  for (; scaled >= 1024 && of + 1 < names.size(); ++of) scaled /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", scaled < 10 ? 2 : scaled < 100 ? 1 : 0, scaled, names[of]);
  return text.data();
}

/// The same ones in the same order for every process.
std::vector<number> numbers_of(const statistics& its) {
  constexpr std::array roads{"by messages", "in process memory", "in node memory"};
  constexpr std::array forms{"", " started", " planned"};
  std::vector<number> all;
  const auto add_volume = [&](const std::string& what, const char* counted, statistics::volume volume) {
    all.push_back({what + ", " + counted, unit::count, volume.count});
    all.push_back({what + ", bytes", unit::bytes, volume.bytes});
  };
  for (std::size_t what = 0; what < its.collectives.size(); ++what)
    for (std::size_t by = 0; by < roads.size(); ++by)
      for (std::size_t as = 0; as < forms.size(); ++as)
        add_volume(std::string(schedules::call_names[what]) + forms[as] + " " + roads[by], "calls",
                   its.collectives[what][by][as]);
  const auto add_sent = [&](const std::string& where, const statistics::sent_messages& sent) {
    add_volume("sent " + where + " at once", "messages", sent.at_once);
    add_volume("sent " + where + " when granted", "messages", sent.granted);
  };
  add_sent("within processes", its.sent_here);
  add_sent("by node memory", its.sent_by_node_memory);
  add_sent("by network", its.sent_by_network);
  add_volume("received", "messages", its.received);
  all.push_back({"unexpected messages, peak bytes", unit::bytes, its.most_unexpected, true});
  all.push_back({"memory of weft's, peak bytes", unit::bytes, its.most_memory, true});
  all.push_back({"retries, no room at provider", unit::count, its.refused});
  all.push_back({"retries, no credit of receiver", unit::count, its.without_credit});
  all.push_back({"sleeps of threads", unit::count, its.sleeps});
  all.push_back({"wakes of threads", unit::count, its.wakes});
  return all;
}

struct line {
  std::array<std::string, 4> cells;
};

}  // namespace

std::string statistics_table(const std::vector<told_statistics>& all) {
  std::vector<std::vector<number>> numbers;
  std::vector<std::string> names;
  std::string lost;
  for (const told_statistics& each : all) {
    if (each.counts) {
      numbers.push_back(numbers_of(*each.counts));
      names.push_back(each.who);
    } else {
      lost += (lost.empty() ? "" : ", ") + each.who;
    }
  }
  std::string text = "weft: statistics of " + std::to_string(numbers.size()) + " of " + std::to_string(all.size()) +
                     (all.size() == 1 ? " process" : " processes");
  if (!lost.empty()) text += ", without those that were lost: " + lost;
  text += "\n";
  std::vector<line> lines{{{"", "total", "least", "most"}}};
  for (std::size_t i = 0; !numbers.empty() && i < numbers[0].size(); ++i) {
    const auto value = [&](std::size_t p) { return numbers[p][i].value; };
    std::size_t least = 0, most = 0;
    std::uint64_t total = 0;
    for (std::size_t p = 0; p < numbers.size(); ++p) {
      total += value(p);
      if (value(p) < value(least)) least = p;
      if (value(p) > value(most)) most = p;
    }
    if (value(most) == 0) continue;
    const number& its = numbers[0][i];
    const auto of_one = [&](std::size_t p) { return text_of(value(p), its.in) + " (" + names[p] + ")"; };
    lines.push_back({{its.what, its.is_peak ? "" : text_of(total, its.in), of_one(least), of_one(most)}});
  }
  std::array<std::size_t, 4> widths{};
  for (const line& each : lines)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], each.cells[i].size());
  for (const line& each : lines) {
    text += "  " + each.cells[0] + std::string(widths[0] - each.cells[0].size(), ' ');
    for (std::size_t i = 1; i < widths.size(); ++i)
      text += "  " + std::string(widths[i] - each.cells[i].size(), ' ') + each.cells[i];
    text += "\n";
  }
  return text;
}

}  // namespace weft::detail
