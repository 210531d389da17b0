// SPDX-License-Identifier: Apache-2.0
#include "bench_lines.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace weft::tools {
namespace {

using nlohmann::json;

std::string label_of(const json& line) {
  std::string label = line.at("peer");
  if (const std::string road = line.value("road", ""); !road.empty()) label += ", " + road;
  if (line.value("persistent", false)) label += ", planned";
  return label;
}

/// "all-reduce" and "all_reduce" are allreduce.
std::string plain(std::string collective) {
  std::erase_if(collective, [](char letter) { return letter == '-' || letter == '_'; });
  return collective;
}

template <class List, class Is, class Make>
auto& find_or_add(List& in, Is is, Make make) {
  const auto found = std::ranges::find_if(in, is);
  return found != in.end() ? *found : in.emplace_back(make());
}

void add(const json& line, std::vector<bench_sweep>& to) {
  const std::string collective = plain(line.at("collective")), label = label_of(line);
  const int ranks = line.at("ranks");
  bench_sweep& sweep = find_or_add(
      to, [&](const bench_sweep& s) { return s.collective == collective && s.ranks == ranks; },
      [&] {
        return bench_sweep{collective, ranks, {}};
      });
  bench_curve& curve = find_or_add(
      sweep.curves, [&](const bench_curve& c) { return c.label == label; },
      [&] {
        return bench_curve{label, {}};
      });
  curve.points.push_back({line.at("bytes"), line.at("median_us"), line.value("p99_us", 0.0)});
}

}  // namespace

void read_bench(const std::string& name, const std::string& text, std::vector<bench_sweep>& to) {
  std::istringstream lines(text);
  std::size_t number = 0, taken = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      add(json::parse(line), to);
      ++taken;
    } catch (const json::exception& wrong) {
      throw std::invalid_argument(name + ":" + std::to_string(number) +
                                  ": this is neither a trace (`weft run --trace FILE`) nor an object of `weft bench "
                                  "--json`, with peer, collective, ranks, bytes and median_us: " +
                                  wrong.what());
    }
  }
  if (taken == 0)
    throw std::invalid_argument(
        name + " is empty: give it a trace (`weft run --trace FILE`) or what `weft bench --json` prints");
  for (bench_sweep& sweep : to)
    for (bench_curve& curve : sweep.curves) std::ranges::sort(curve.points, {}, &bench_curve::point::bytes);
}

}  // namespace weft::tools
