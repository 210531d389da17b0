// SPDX-License-Identifier: Apache-2.0
// The first process of a machine that boots for one job: it mounts what programs look for, loads the kernel's modules
// of /modules, gives the interface its address, runs the solver as a part of the job that the kernel's command line
// describes, and powers the machine off.
//
//   weft.hosts=10.0.0.1,10.0.0.2 weft.secret=/secret image.address=10.0.0.1/24 -- --stencil 20
//
// What is behind -- the solver gets as arguments. image.interface is eth0 unless the command line says another.
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/weft.hpp>

#include "program.hpp"

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

void mount_at(const char* type, const char* where) {
  ::mkdir(where, 0755);
  if (::mount(type, where, type, 0, nullptr) != 0 && errno != EBUSY) fail(std::string("mount ") + where);
}

/// Of the kernel's command line; `otherwise` where it has none of that name.
std::string word(const std::string& name, const std::string& otherwise) {
  std::ifstream words("/proc/cmdline");
  for (std::string each; words >> each;)
    if (each.starts_with(name + "=")) return each.substr(name.size() + 1);
  return otherwise;
}

/// In the order of their names.
void load_modules() {
  if (!std::filesystem::is_directory("/modules")) return;
  std::vector<std::filesystem::path> modules;
  for (const auto& each : std::filesystem::directory_iterator("/modules")) modules.push_back(each.path());
  std::ranges::sort(modules);
  constexpr int compressed = 4;  // MODULE_INIT_COMPRESSED_FILE
  for (const auto& each : modules) {
    const int file = ::open(each.c_str(), O_RDONLY | O_CLOEXEC);
    const int flags = each.extension() == ".ko" ? 0 : compressed;
    if (file < 0 || (::syscall(SYS_finit_module, file, "", flags) != 0 && errno != EEXIST)) fail(each.string());
    ::close(file);
  }
}

/// Sets an IPv4 address and its mask, where there is one, and brings the interface up; waits for it as it appears late.
void bring_up(const std::string& interface, const std::string& address) {
  const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) fail("socket");
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), IFNAMSIZ - 1);
  while (::ioctl(control, SIOCGIFFLAGS, &request) != 0) {
    if (errno != ENODEV) fail(interface);
    ::usleep(10'000);
  }
  const short flags = request.ifr_flags;
  const auto set = [&](unsigned long what, in_addr_t value) {
    const sockaddr_in as{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {value}, .sin_zero = {}};
    std::memcpy(&request.ifr_addr, &as, sizeof as);
    if (::ioctl(control, what, &request) != 0) fail(interface + " " + address);
  };
  if (!address.empty()) {
    const std::size_t slash = address.find('/');
    const int prefix = slash == std::string::npos ? 24 : std::atoi(address.c_str() + slash + 1);
    set(SIOCSIFADDR, ::inet_addr(address.substr(0, slash).c_str()));
    set(SIOCSIFNETMASK, htonl(prefix <= 0 ? 0 : ~in_addr_t{0} << (32 - std::min(prefix, 32))));
  }
  request.ifr_flags = static_cast<short>(flags | IFF_UP);
  if (::ioctl(control, SIOCSIFFLAGS, &request) != 0) fail(interface + " up");
  ::close(control);
}

void prepare() {
  mount_at("proc", "/proc");
  mount_at("sysfs", "/sys");
  mount_at("devtmpfs", "/dev");
  mount_at("tmpfs", "/tmp");
  load_modules();
  bring_up("lo", "");
  if (const std::string address = word("image.address", ""); !address.empty())
    bring_up(word("image.interface", "eth0"), address);
}

double seconds_since_boot() {
  double seconds = 0;
  std::ifstream("/proc/uptime") >> seconds;
  return seconds;
}

/// "MemAvailable:" of /proc/meminfo, "VmHWM:" of /proc/self/status, in MiB.
double mebibytes(const char* file, const std::string& name) {
  std::ifstream lines(file);
  double kibibytes = 0;
  for (std::string each; lines >> each;)
    if (each == name) lines >> kibibytes;
  return kibibytes / 1024;
}

int compute(int argc, char** argv) try {
  ::setenv("WEFT_JOB", "static", 1);
  weft::runtime runtime{argc, argv};
  runtime.run([](weft::communicator& world) {
    const int ranks = world.allreduce(1, weft::sum);
    if (world.rank() == 0)
      std::printf("image: %d ranks, the first all-reduce done %.2f s after the kernel began\n", ranks,
                  seconds_since_boot());
  });
  const int status = cg::run(runtime, argc, argv);
  std::printf("image: memory of the solver %.1f MiB, of the machine %.1f MiB\n",
              mebibytes("/proc/self/status", "VmHWM:"),
              mebibytes("/proc/meminfo", "MemTotal:") - mebibytes("/proc/meminfo", "MemAvailable:"));
  return status;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "image: %s\n", failure.what());
  return EXIT_FAILURE;
}

/// The solver is a process of its own, so that its end is not the machine's.
int run_solver(int argc, char** argv) {
  const pid_t solver = ::fork();
  if (solver < 0) fail("fork");
  if (solver == 0) std::exit(compute(argc, argv));
  int status = 0;
  for (pid_t ended = 0; ended != solver;) ended = ::wait(&status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (::getpid() != 1) return compute(argc, argv);
  try {
    prepare();
    std::printf("image: the solver ended with status %d\n", run_solver(argc, argv));
  } catch (const std::exception& failure) {
    std::printf("image: %s\n", failure.what());
  }
  std::fflush(stdout);
  ::sync();
  ::reboot(RB_POWER_OFF);
}
