// SPDX-License-Identifier: Apache-2.0
#include "machine_files.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

namespace weft::tools {
namespace {

constexpr std::uint64_t least_shm = std::uint64_t{64} << 20;

/// The first line; empty where there is no such file.
std::string line_of(const path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

/// The folders of the cgroups around this process that have `controller`, the innermost first.
std::vector<path> cgroups(const path& root, const std::string& controller) {
  const path mounted = root / "sys/fs/cgroup";
  std::ifstream lines(root / "proc/self/cgroup");
  std::vector<path> folders;
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/folder", of version 2 "0::/folder"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    const path top = controllers.empty()                              ? mounted
                     : std::filesystem::exists(mounted / controllers) ? mounted / controllers
                                                                      : mounted / controller;
    // In a container the folder may be one that only its host sees; what holds for it is then at the top.
    const path within = path(line.substr(second + 1)).relative_path();
    for (path each = within; !each.empty(); each = each.parent_path()) folders.push_back(top / each);
    folders.push_back(top);
  }
  return folders;
}

std::optional<double> number_in(const path& file) {
  std::ifstream in(file);
  double number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// The processors whose time one cgroup leaves, of either version; nothing: all.
std::optional<double> quota_of(const path& folder) {
  std::ifstream in(folder / "cpu.max");
  double quota = 0, period = 0;
  if (in >> quota >> period && period > 0) return quota / period;
  const auto old = number_in(folder / "cpu.cfs_quota_us"), old_period = number_in(folder / "cpu.cfs_period_us");
  if (old && old_period && *old > 0 && *old_period > 0) return *old / *old_period;
  return std::nullopt;
}

std::optional<double> memory_of(const path& folder) {
  auto found = number_in(folder / "memory.max");
  if (!found) found = number_in(folder / "memory.limit_in_bytes");
  if (found && *found < 0x1p62) return found;  // version 1 writes "no limit" as a number
  return std::nullopt;
}

template <class Read>
std::optional<double> least(const std::vector<path>& folders, Read read) {
  std::optional<double> found;
  for (const path& folder : folders)
    if (const auto one = read(folder); one && (!found || *one < *found)) found = one;
  return found;
}

}  // namespace

finding check_shm(const path& root) {
  std::error_code failure;
  const auto space = std::filesystem::space(root / "dev/shm", failure);
  const std::string remedy = "mount a tmpfs there (in a container --shm-size=1g)";
  if (failure)
    return {"/dev/shm", severity::warning, "not there: libfabric's shm does not work, weft's own memory does", remedy};
  if (space.available < least_shm)
    return {"/dev/shm", severity::warning,
            mebibytes(space.available) + " free: little for libfabric's shm; weft's own memory does not need it",
            remedy};
  return {"/dev/shm", severity::ok, mebibytes(space.available) + " free", ""};
}

finding check_reading(const path& root, const std::string& refusal) {
  const std::string scope = line_of(root / "proc/sys/kernel/yama/ptrace_scope");
  const std::string said = scope.empty() ? "" : ", ptrace_scope " + scope;
  if (refusal.empty()) return {"process_vm_readv", severity::ok, "works between two processes" + said, ""};
  return {"process_vm_readv", severity::warning, refusal + said + ": long vectors are copied twice within a node",
          scope.empty() || scope == "0" ? "allow it (in a container --cap-add=SYS_PTRACE)"
                                        : "sysctl kernel.yama.ptrace_scope=0"};
}

finding check_seccomp(const path& root, bool refused) {
  std::ifstream lines(root / "proc/self/status");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Seccomp:")) continue;
    if (line.back() == '0') return {"seccomp", severity::ok, "no filter of system calls", ""};
    if (!refused) return {"seccomp", severity::ok, "a filter of system calls, which lets weft's pass", ""};
    return {"seccomp", severity::warning, "a filter of system calls, and some of weft's are refused",
            "a profile that allows them (in a container --security-opt seccomp=unconfined)"};
  }
  return {"seccomp", severity::ok, "not known to this kernel", ""};
}

finding check_cpu_quota(const path& root, int cpus) {
  const auto quota = least(cgroups(root, "cpu"), quota_of);
  if (!quota) return {"cpu quota", severity::ok, "none", ""};
  finding result{"cpu quota", severity::ok, "time of " + decimal(*quota) + " cpus", ""};
  if (*quota >= cpus) return result;
  result.how = severity::warning;
  result.found +=
      " by the cgroup, and the job is to use " + std::to_string(cpus) + ": all its ranks stop when that is used up";
  result.remedy = "fewer ranks, or a higher quota (docker --cpus, Kubernetes limits.cpu, CPUQuota)";
  return result;
}

finding check_memory_quota(const path& root, int cpus, std::uint64_t bytes_each) {
  const auto limit = least(cgroups(root, "memory"), memory_of);
  if (!limit) return {"memory quota", severity::ok, "none", ""};
  const auto bytes = static_cast<std::uint64_t>(*limit);
  finding result{"memory quota", severity::ok, mebibytes(bytes), ""};
  const std::uint64_t needed = bytes_each * static_cast<std::uint64_t>(cpus);
  if (bytes >= needed) return result;
  result.how = severity::error;
  result.found +=
      " by the cgroup, and weft alone takes up to " + mebibytes(needed) + " for " + std::to_string(cpus) + " processes";
  result.remedy = "fewer processes, or a higher limit (docker --memory, Kubernetes limits.memory, MemoryMax)";
  return result;
}

finding check_clock(const path& root) {
  const std::string source = line_of(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source.empty()) return {"clock", severity::ok, "its source is not told", ""};
  // Read without a system call.
  const std::array quick{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
  if (std::find(quick.begin(), quick.end(), source) != quick.end()) return {"clock", severity::ok, source, ""};
  return {"clock", severity::warning, source + ": each look at the clock is a system call",
          "clocksource=tsc on the kernel's command line, if its log does not call the tsc unstable"};
}

finding check_governor(const path& root) {
  std::map<std::string, int> governors;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(root / "sys/devices/system/cpu", failure)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("cpu") || name.size() < 4 || std::isdigit(static_cast<unsigned char>(name[3])) == 0) continue;
    if (const std::string one = line_of(entry.path() / "cpufreq/scaling_governor"); !one.empty()) ++governors[one];
  }
  if (governors.empty()) return {"governor", severity::ok, "clock rates are not this system's to choose", ""};
  std::string all;
  for (const auto& [name, cpus] : governors)
    all += (all.empty() ? "" : ", ") + name + " on " + std::to_string(cpus) + (cpus == 1 ? " cpu" : " cpus");
  if (governors.size() == 1 && governors.contains("performance")) return {"governor", severity::ok, all, ""};
  return {"governor", severity::warning, all + ": cpus that wait may be slow when they are needed",
          "cpupower frequency-set -g performance"};
}

finding check_smt(const path& root) {
  const std::string active = line_of(root / "sys/devices/system/cpu/smt/active");
  return {"SMT", severity::ok,
          active == "1" ? "on: two cpus share a core, and ranks are counted by cores" : "off: every cpu is a core", ""};
}

}  // namespace weft::tools
