// SPDX-License-Identifier: Apache-2.0
#include "memory_left.hpp"

#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace weft::fabric {
namespace {

using path = std::filesystem::path;

/// The number behind `key` in a file of lines "key number ..."; with an empty key the file's first. Nothing for "max".
std::optional<std::uint64_t> number_in(const path& file, std::string_view key = "") {
  std::ifstream lines(file);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream words(line);
    if (!key.empty() && (!(words >> word) || word != key)) continue;
    std::uint64_t number = 0;
    if (words >> number) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

/// How a version of control groups calls what is needed here.
struct interface {
  const char* limit;
  const char* used;
  const char* cached[2];  // in memory.stat
};
constexpr interface version_1 {
  "memory.limit_in_bytes", "memory.usage_in_bytes", { "total_active_file", "total_inactive_file" }
};
constexpr interface version_2 {
  "memory.max", "memory.current", { "active_file", "inactive_file" }
};

/// Takes what the group in `folder` leaves, where that is less.
void limit_by_group(memory_left& left, const path& folder, const interface& by) {
  const auto most = number_in(folder / by.limit), used = number_in(folder / by.used);
  if (!most || !used) return;
  std::uint64_t free = *most - std::min(*most, *used);
  for (const char* const key : by.cached) free += number_in(folder / "memory.stat", key).value_or(0);
  if (free < left.bytes) left = {free, (folder / by.limit).string()};
}

/// Where the hierarchy of the memory controller is mounted, and which of its groups is seen there.
struct hierarchy {
  path mounted;
  path top;
  const interface* by;
};

/// By /proc/self/mountinfo: ID PARENT DEVICE TOP MOUNTED OPTIONS [FIELDS] - TYPE SOURCE OPTIONS.
std::vector<hierarchy> find_hierarchies(const path& root) {
  std::vector<hierarchy> found;
  std::ifstream lines(root / "proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    const auto separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream words(line), kinds(line.substr(separator + 3));
    std::string skipped, top, mounted, type, source, options;
    words >> skipped >> skipped >> skipped >> top >> mounted;
    kinds >> type >> source >> options;
    const bool first = type == "cgroup" && ("," + options + ",").find(",memory,") != std::string::npos;
    if (first || type == "cgroup2")
      found.push_back({root / path(mounted).relative_path(), top, first ? &version_1 : &version_2});
  }
  return found;
}

/// This process's group in the hierarchy of such an interface: in /proc/self/cgroup a line "NUMBER:CONTROLLERS:GROUP",
/// of version 2 without controllers.
std::optional<path> group_of(const path& root, const interface* by) {
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (by == &version_1 ? controllers.find(",memory,") != std::string::npos : controllers == ",,")
      return path(line.substr(second + 1));
  }
  return std::nullopt;
}

}  // namespace

memory_left find_memory_left(const path& root) {
  memory_left left{std::numeric_limits<std::uint64_t>::max(), ""};
  if (const auto kilobytes = number_in(root / "proc/meminfo", "MemAvailable:"))
    left = {*kilobytes * 1024, "MemAvailable of /proc/meminfo"};
  for (const hierarchy& each : find_hierarchies(root)) {
    const auto group = group_of(root, each.by);
    if (!group) continue;
    // Of what is mounted here the top is its own folder; a group that is not below it is not to be seen.
    const path below = group->lexically_relative(each.top);
    path folder = below.empty() || *below.begin() == ".." ? each.mounted : each.mounted / below;
    for (folder = folder.lexically_normal();; folder = folder.parent_path()) {
      limit_by_group(left, folder, *each.by);
      if (folder == each.mounted || folder == folder.parent_path()) break;
    }
  }
  return left;
}

}  // namespace weft::fabric
