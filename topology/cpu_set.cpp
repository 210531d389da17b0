// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <iterator>
#include <weft/runtime/error.hpp>
#include <weft/topology/cpu_set.hpp>

namespace weft::topology {
namespace {

[[noreturn]] void refuse(std::string_view list, std::size_t at, const std::string& why) {
  throw error(errc::invalid_argument, "cpu list \"" + std::string(list) + "\": at character " + std::to_string(at + 1) +
                                          ": " + why + "; a list of cpus reads like 0-3,8");
}

// The number at `at`, which moves behind it.
int take_cpu(std::string_view list, std::size_t& at) {
  int cpu = 0;
  const char* from = list.data() + at;
  const auto [end, failure] = std::from_chars(from, list.data() + list.size(), cpu);
  // from_chars takes a minus sign, a cpu list has none.
  if (end == from || *from == '-') refuse(list, at, "expected a cpu number");
  if (failure != std::errc{} || cpu > cpu_set::largest) {
    refuse(list, at, "no cpu is numbered above " + std::to_string(cpu_set::largest));
  }
  at += static_cast<std::size_t>(end - from);
  return cpu;
}

}  // namespace

cpu_set::cpu_set(std::initializer_list<int> cpus) {
  for (int cpu : cpus) insert(cpu);
}

cpu_set cpu_set::parse(std::string_view list) {
  cpu_set result;
  std::size_t at = 0;
  while (!list.empty()) {
    const std::size_t start = at;
    const int first = take_cpu(list, at);
    int last = first;
    if (at < list.size() && list[at] == '-') last = take_cpu(list, ++at);
    if (last < first) refuse(list, start, "a range that runs backwards");
    for (int cpu = first; cpu <= last; ++cpu) result.insert(cpu);
    if (at == list.size()) break;
    if (list[at] != ',') refuse(list, at, "expected a comma or the end");
    ++at;
  }
  return result;
}

void cpu_set::insert(int cpu) {
  if (cpu < 0) throw error(errc::invalid_argument, "cpu " + std::to_string(cpu) + ": cpus are numbered from 0");
  const auto place = std::lower_bound(cpus_.begin(), cpus_.end(), cpu);
  if (place == cpus_.end() || *place != cpu) cpus_.insert(place, cpu);
}

bool cpu_set::contains(int cpu) const noexcept { return std::binary_search(begin(), end(), cpu); }

bool cpu_set::includes(const cpu_set& other) const noexcept {
  return std::includes(begin(), end(), other.begin(), other.end());
}

bool cpu_set::intersects(const cpu_set& other) const noexcept {
  return std::any_of(begin(), end(), [&](int cpu) { return other.contains(cpu); });
}

cpu_set operator|(const cpu_set& a, const cpu_set& b) {
  cpu_set result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result.cpus_));
  return result;
}

cpu_set operator&(const cpu_set& a, const cpu_set& b) {
  cpu_set result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result.cpus_));
  return result;
}

cpu_set operator-(const cpu_set& a, const cpu_set& b) {
  cpu_set result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result.cpus_));
  return result;
}

std::string to_string(const cpu_set& cpus) {
  std::string text;
  for (auto cpu = cpus.begin(); cpu != cpus.end();) {
    const int first = *cpu;
    int last = first;
    while (++cpu != cpus.end() && *cpu == last + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
  }
  return text;
}

}  // namespace weft::topology
