// SPDX-License-Identifier: Apache-2.0
// `weft doctor`: what it makes of made-up machines, and one run of it here.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "tools/doctor/disks.hpp"
#include "tools/doctor/finding.hpp"
#include "tools/doctor/limits.hpp"
#include "tools/doctor/machine_files.hpp"
#include "tools/doctor/trials.hpp"

using namespace weft::tools;
using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::outcome;

namespace {

/// A folder with files, in place of "/", for as long as this lives.
class made_up_machine {
 public:
  made_up_machine() { std::filesystem::create_directories(root); }
  ~made_up_machine() { std::filesystem::remove_all(root); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }

  const path root = std::filesystem::temp_directory_path() / ("weft-doctor-" + std::to_string(::getpid()));
};

bool is(const finding& one, severity how, const std::string& found) {
  CAPTURE(one.what, one.found, one.remedy);
  CHECK(one.found.find(found) != std::string::npos);
  CHECK(one.remedy.empty() == (one.how == severity::ok));
  return one.how == how;
}

/// A remote shell that leads to this machine by other names.
struct pretended_shell {
  pretended_shell() {
    std::ofstream(file) << "#!/bin/sh\nhost=$1; shift\ncase $host in\n"
                           "  unknown) echo \"no such host\" >&2; exit 255;;\n"
                           "  old) echo '{\"weft\": \"0.0.1\"}'; exec sleep 600;;\n"
                           "  chatty) echo welcome;;\nesac\nexec sh -c \"$*\"\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  ~pretended_shell() { std::filesystem::remove(file); }
  const std::string file = std::filesystem::temp_directory_path() / ("weft-doctor-rsh-" + std::to_string(::getpid()));
};

json found_by(const outcome& run, const std::string& what) {
  const json all = json::parse(run.output).at("findings");
  for (const json& each : all)
    if (each.at("what") == what) return each;
  FAIL("nothing was found of " + what + " in " + run.output);
  return {};
}

}  // namespace

TEST_CASE("the worst of the findings decides the exit status") {
  const finding good{"clock", severity::ok, "tsc", ""}, poor{"noise", severity::warning, "much", "less of it"},
      bad{"provider", severity::error, "none", "one"};
  CHECK(exit_status(worst_of({})) == 0);
  CHECK(exit_status(worst_of({good})) == 0);
  CHECK(exit_status(worst_of({good, poor, good})) == 3);
  CHECK(exit_status(worst_of({good, bad, poor})) == 4);
  CHECK(to_text({good, poor}) == "ok       clock            tsc\nwarning  noise            much; less of it\n");
  const json object = json::parse(to_json({good, bad}));
  CHECK(object.at("worst") == "error");
  CHECK(object.at("findings").at(1).at("remedy") == "one");
}

TEST_CASE("limits are held against what a job needs") {
  for (const finding& each : check_limits({}, 64, true)) CHECK(is(each, severity::ok, "unlimited"));
  const process_limits narrow{8 << 20, 1 << 30, 1024, 1024};
  const auto here = check_limits(narrow, 2, false);
  CHECK(is(here.at(0), severity::ok, "8192 KiB"));
  CHECK(is(here.at(1), severity::warning, "1048576 KiB (ulimit -v)"));
  CHECK(is(here.at(2), severity::ok, "1024"));
  CHECK(is(here.at(3), severity::ok, "1024"));
  const auto large = check_limits(narrow, 64, true);
  CHECK(is(large.at(0), severity::error, "needs memory locked"));
  CHECK(is(large.at(2), severity::warning, "may need"));
  CHECK(is(large.at(3), severity::warning, "may need"));
}

TEST_CASE("a cgroup's quota of processor time is held against the cpus of the job") {
  const made_up_machine one;
  CHECK(is(check_cpu_quota(one.root, 8), severity::ok, "none"));
  one.write("proc/self/cgroup", "0::/job/step\n");
  one.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  CHECK(is(check_cpu_quota(one.root, 8), severity::ok, "none"));
  one.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  CHECK(is(check_cpu_quota(one.root, 1), severity::ok, "1.5 cpus"));
  CHECK(is(check_cpu_quota(one.root, 2), severity::warning, "time of 1.5 cpus by the cgroup, and the job is to use 2"));
}

TEST_CASE("quotas of cgroups of the first version are found, too, and a container's at the top") {
  const made_up_machine one;
  one.write("proc/self/cgroup", "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n");
  one.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n");
  one.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  one.write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "1073741824\n");
  one.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(is(check_cpu_quota(one.root, 4), severity::ok, "4 cpus"));
  CHECK(is(check_cpu_quota(one.root, 5), severity::warning, "4 cpus"));
  CHECK(is(check_memory_quota(one.root, 2, 256 << 20), severity::ok, "1024 MiB"));
  CHECK(is(check_memory_quota(one.root, 5, 256 << 20), severity::error, "up to 1280 MiB for 5 processes"));
}

TEST_CASE("a cgroup's memory is held against what weft takes") {
  const made_up_machine one;
  one.write("proc/self/cgroup", "0::/job\n");
  one.write("sys/fs/cgroup/job/memory.max", "max\n");
  CHECK(is(check_memory_quota(one.root, 64, 1 << 30), severity::ok, "none"));
  one.write("sys/fs/cgroup/job/memory.max", "104857600\n");
  CHECK(is(check_memory_quota(one.root, 2, 64 << 20), severity::error, "100 MiB by the cgroup"));
}

TEST_CASE("clock, governor and hardware threads") {
  const made_up_machine one;
  CHECK(is(check_clock(one.root), severity::ok, "not told"));
  CHECK(is(check_governor(one.root), severity::ok, "not this system's"));
  CHECK(is(check_smt(one.root), severity::ok, "off"));
  const std::string clock = "sys/devices/system/clocksource/clocksource0/current_clocksource";
  one.write(clock, "tsc\n");
  CHECK(is(check_clock(one.root), severity::ok, "tsc"));
  one.write(clock, "hpet\n");
  CHECK(is(check_clock(one.root), severity::warning, "hpet"));
  for (const char* cpu : {"cpu0", "cpu1", "cpu12"})
    one.write("sys/devices/system/cpu/" + std::string(cpu) + "/cpufreq/scaling_governor", "performance\n");
  one.write("sys/devices/system/cpu/cpufreq/scaling_governor", "of no cpu\n");
  CHECK(is(check_governor(one.root), severity::ok, "performance on 3 cpus"));
  one.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  CHECK(is(check_governor(one.root), severity::warning, "performance on 2 cpus, powersave on 1 cpu:"));
  one.write("sys/devices/system/cpu/smt/active", "1\n");
  CHECK(is(check_smt(one.root), severity::ok, "on"));
}

TEST_CASE("what keeps processes from each other's memory is named") {
  const made_up_machine one;
  CHECK(is(check_reading(one.root, ""), severity::ok, "works"));
  CHECK_THAT(check_reading(one.root, "process_vm_readv: Function not implemented").remedy,
             ContainsSubstring("SYS_PTRACE"));
  one.write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  const finding refused = check_reading(one.root, "process_vm_readv: Operation not permitted");
  CHECK(is(refused, severity::warning, "not permitted, ptrace_scope 1"));
  CHECK(refused.remedy == "sysctl kernel.yama.ptrace_scope=0");
  CHECK(is(check_seccomp(one.root, true), severity::ok, "not known"));
  one.write("proc/self/status", "Name:\tweft\nSeccomp:\t0\nSeccomp_filters:\t0\n");
  CHECK(is(check_seccomp(one.root, true), severity::ok, "no filter"));
  one.write("proc/self/status", "Name:\tweft\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  CHECK(is(check_seccomp(one.root, false), severity::ok, "lets weft's pass"));
  CHECK(is(check_seccomp(one.root, true), severity::warning, "refused"));
}

TEST_CASE("shared memory, arrays and noise") {
  const made_up_machine one;
  CHECK(is(check_shm(one.root), severity::warning, "not there"));
  weft::fabric::arena_trial tried;
  tried.bytes_of_process = 8 << 20;
  tried.memory_left = std::uint64_t{2} << 30;
  CHECK(is(check_node_memory(tried), severity::ok, "8192 KiB shared for each process, arrays up to 2048 MiB"));
  tried.heap_refusal = "no addresses";
  CHECK(is(check_node_memory(tried), severity::warning, "no arrays: no addresses"));
  tried.refusal = "memfd_create: Operation not permitted";
  CHECK(is(check_node_memory(tried), severity::warning, "memfd_create: Operation not permitted"));
  weft::topology::cpu_noise quiet, loud;
  quiet.measured = loud.measured = 1;
  loud.cpu = 3;
  loud.detoured = 0.25;
  loud.longest = 0.004;
  CHECK(is(check_noise({quiet}), severity::ok, "0.00 %"));
  CHECK(
      is(check_noise({quiet, loud}), severity::warning, "cpu 3 loses 25.00 % of its time to others, at most 4000 us"));
}

TEST_CASE("folders that are full, read only or not there are named") {
  const auto checked = [](const folder_room& in) { return check_room("working folder", in, "results"); };
  folder_room room{"/work"};
  room.free_bytes = std::uint64_t{1} << 30;
  CHECK(is(checked(room), severity::ok, "/work: 1024 MiB free"));
  room.files = 1000;
  room.free_files = 2;
  CHECK(is(checked(room), severity::warning, "/work: 1024 MiB free, but for 2 files more"));
  room.free_bytes = 4096;
  CHECK(is(checked(room), severity::warning, "/work: 0 MiB free"));
  room.read_only = true;
  CHECK(is(checked(room), severity::warning, "/work: can only be read"));
  CHECK(is(checked(room_in("/no/such folder")), severity::warning,
           "/no/such folder: statvfs: No such file or directory"));
  CHECK(room_in("/").failure == 0);
  CHECK(room_in("/").free_bytes > 0);
}

TEST_CASE("the doctor looks at this machine") {
  const outcome text = weft_test::run({"doctor"});
  CAPTURE(text.output, text.error);
  CHECK((text.status == 0 || text.status == 3));
  std::istringstream lines(text.output);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    CHECK((line.starts_with("ok ") || line.starts_with("warning ")));
  CHECK(count == 18);
  const outcome strict = weft_test::run({"doctor", "--json", "--weft-provider=pigeon"});
  CHECK(strict.status == 4);
  CHECK(json::parse(strict.output).at("worst") == "error");
  CHECK(found_by(strict, "provider").at("severity") == "error");
  CHECK(weft_test::run({"doctor", "--cpus", "none"}).status == 2);
}

TEST_CASE("the doctor connects to hosts and lets them connect") {
  const pretended_shell shell;
  const auto examined = [&](const std::string& hosts) {
    return weft_test::run({"doctor", "--json", "--rsh", shell.file, "--hosts", hosts});
  };
  const outcome good = examined("n[1-2],chatty,localhost");
  for (const char* host : {"host n1", "host n2", "host chatty", "host localhost"}) {
    const json found = found_by(good, host);
    CHECK(found.at("severity") == "ok");
    CHECK_THAT(found.at("found").get<std::string>(), ContainsSubstring("reached at "));
  }
  const outcome bad = examined("unknown,old");
  CHECK(bad.status == 4);
  CHECK_THAT(found_by(bad, "host unknown").at("found").get<std::string>(),
             ContainsSubstring("status 255: no such host"));
  CHECK_THAT(found_by(bad, "host old").at("found").get<std::string>(), ContainsSubstring("has weft 0.0.1, here is"));
  CHECK(weft_test::left_behind().empty());
  const outcome missing = weft_test::run({"doctor", "--json", "--rsh", "/no/such/shell", "--hosts", "a"});
  CHECK(missing.status == 4);
  CHECK_THAT(found_by(missing, "hosts").at("found").get<std::string>(), ContainsSubstring("/no/such/shell"));
}
