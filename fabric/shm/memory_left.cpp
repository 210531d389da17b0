// SPDX-License-Identifier: Apache-2.0
#include "memory_left.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>
#include <weft/runtime/text_file.hpp>

namespace weft::fabric {
namespace {

using path = std::filesystem::path;

/// The number behind `key` in a file of lines "key number ..."; with an empty key the file's first. Nothing for "max".
std::optional<std::uint64_t> number_in(const path& file, std::string_view key = "") {
  const std::string text = read_text(file).value_or("");
  for (std::string_view line : lines_of(text)) {
    if (!key.empty()) {
      if (first_word_of(line) != key) continue;
      line.remove_prefix(line.find(key) + key.size());
    }
    return leading_number<std::uint64_t>(line);
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
  const std::string text = read_text(root / "proc/self/mountinfo").value_or("");
  for (const std::string_view line : lines_of(text)) {
    const auto separator = line.find(" - ");
    if (separator == std::string_view::npos) continue;
    const auto fields = words_of(line.substr(0, separator)), kind = words_of(line.substr(separator + 3));
    if (fields.size() < 5 || kind.size() < 3) continue;
    const bool first = kind[0] == "cgroup" && std::ranges::count(parts_of(kind[2], ','), "memory") != 0;
    if (first || kind[0] == "cgroup2")
      found.push_back({root / path(fields[4]).relative_path(), fields[3], first ? &version_1 : &version_2});
  }
  return found;
}

/// This process's group in the hierarchy of such an interface: in /proc/self/cgroup a line "NUMBER:CONTROLLERS:GROUP",
/// of version 2 without controllers.
std::optional<path> group_of(const path& root, const interface* by) {
  const std::string text = read_text(root / "proc/self/cgroup").value_or("");
  for (const std::string_view line : lines_of(text)) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (by == &version_1 ? std::ranges::count(parts_of(controllers, ','), "memory") != 0 : controllers.empty())
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
