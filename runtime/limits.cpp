// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <weft/runtime/limits.hpp>

namespace weft {
namespace {

std::optional<rlim_t> limit_of(__rlimit_resource which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::string kibibytes(rlim_t bytes) { return std::to_string(bytes / 1024) + " KiB"; }

/// Empty where there is no limit.
std::string of_addresses() {
  const auto most = limit_of(RLIMIT_AS);
  if (!most) return "";
  return "; RLIMIT_AS lets this process have " + kibibytes(*most) + " of addresses, of which it has " +
         kibibytes(addresses_in_use()) + ": raise it (ulimit -v)";
}

/// Whether there are no addresses for one more thread's stack, which fails as what there are no processes for.
bool has_no_room_for_stack() {
  const auto most = limit_of(RLIMIT_AS);
  if (!most) return false;
  pthread_attr_t by_default;
  std::size_t size = 0;
  ::pthread_attr_init(&by_default);
  ::pthread_attr_getstacksize(&by_default, &size);
  ::pthread_attr_destroy(&by_default);
  return addresses_in_use() + size > *most;
}

std::string of_processes() {
  const auto most = limit_of(RLIMIT_NPROC);
  if (!most) return "; the system, or the control group by pids.max, has no more processes and threads";
  return "; RLIMIT_NPROC lets this user have " + std::to_string(*most) +
         " processes and threads at a time: raise it (ulimit -u)";
}

std::string of_files() {
  const auto most = limit_of(RLIMIT_NOFILE);
  if (!most) return "";
  return "; RLIMIT_NOFILE lets this process have " + std::to_string(*most) + " open files: raise it (ulimit -n)";
}

}  // namespace

std::size_t addresses_in_use() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file == -1) return 0;
  std::array<char, 32> text;
  const ssize_t length = ::read(file, text.data(), text.size());
  ::close(file);
  std::size_t pages = 0;
  if (length > 0) std::from_chars(text.data(), text.data() + length, pages);
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string limit_behind(int number, const char* call) {
  const std::string_view failed(call);
  switch (number) {
    case ENOMEM:
      return of_addresses();
    case EMFILE:
      return of_files();
    case EAGAIN:
      if (failed == "pthread_create" && has_no_room_for_stack()) return of_addresses();
      return failed == "fork" || failed == "vfork" || failed == "pthread_create" ? of_processes() : "";
    default:
      return "";
  }
}

std::string file_limit_met() {
  const int one_more = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (one_more < 0) return errno == EMFILE ? of_files() : "";
  ::close(one_more);
  return "";
}

}  // namespace weft
