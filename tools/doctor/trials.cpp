// SPDX-License-Identifier: Apache-2.0
#include "trials.hpp"

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <weft/fabric/interfaces.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

constexpr double much_noise = 0.01;

/// In a child: 0, or errno.
int read_from(pid_t other, const long* there) {
  long here = 0;
  const iovec to{&here, sizeof here}, from{const_cast<long*>(there), sizeof here};
  if (::process_vm_readv(other, &to, 1, &from, 1, 0) != sizeof here) return errno;
  return here == *there ? 0 : EIO;
}

}  // namespace

std::string try_reading() {
  static const long known = 0x77656674;
  const auto failed = [](const char* call) { return std::string(call) + ": " + std::strerror(errno); };
  const pid_t one = ::fork();
  if (one < 0) return failed("fork");
  if (one == 0) {
    ::pause();  // until it is killed
    ::_exit(0);
  }
  const pid_t other = ::fork();
  if (other == 0) ::_exit(read_from(one, &known));
  int status = 0;
  std::string refusal = other < 0 ? failed("fork") : "";
  if (other > 0) {
    ::waitpid(other, &status, 0);
    const int number = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    if (number != 0) refusal = std::string("process_vm_readv: ") + std::strerror(number);
  }
  ::kill(one, SIGKILL);
  ::waitpid(one, &status, 0);
  return refusal;
}

finding check_node_memory(const fabric::arena_trial& tried) {
  const auto mebibytes = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  const std::string works = std::to_string(tried.bytes_of_process >> 10) + " KiB shared for each process";
  if (!tried.refusal.empty())
    return {"node memory", severity::warning, tried.refusal + ": processes of a node talk over the network",
            "allow memfd_create and shared mappings"};
  if (!tried.heap_refusal.empty())
    return {"node memory", severity::warning, works + ", but no arrays: " + tried.heap_refusal,
            "ulimit -v unlimited, or more memory"};
  return {"node memory", severity::ok, works + ", arrays up to " + mebibytes(tried.memory_left) + " now", ""};
}

finding check_interfaces(const options& parsed, bool several) try {
  std::string all;
  for (const auto& each : fabric::usable_interfaces(parsed.interface, parsed.address))
    all += (all.empty() ? "" : ", ") + to_string(each);
  if (!all.empty()) return {"interfaces", severity::ok, all, ""};
  return {"interfaces", several ? severity::error : severity::ok, "none that other hosts could reach",
          several ? "an address of a network that the hosts share" : ""};
} catch (const error& failure) {
  return {"interfaces", severity::error, failure.what(), "another --weft-interface or --weft-address"};
}

finding check_provider(const options& parsed) try {
  const std::string version = "libfabric " + fabric::libfabric_version();
  const auto chosen =
      fabric::choose_provider(parsed.provider, parsed.address, fabric::unsafe_providers{parsed.unsafe_provider});
  if (!chosen.warning.empty())
    return {"provider", severity::warning, version + ", " + chosen.provider + ": " + chosen.warning,
            "another one with --provider (`weft info --providers` lists them)"};
  return {"provider", severity::ok, version + ", " + chosen.provider + " (" + chosen.reason + ")", ""};
} catch (const error& failure) {
  return {"provider", severity::error, failure.what(),
          "libfabric and a provider that it has (`weft info --providers` lists them)"};
}

finding check_noise(const std::vector<topology::cpu_noise>& measured) {
  const auto most = std::max_element(measured.begin(), measured.end(), [](const auto& one, const auto& other) {
    return one.share_lost() < other.share_lost();
  });
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "cpu %d loses %.2f %% of its time to others, at most %.0f us at once",
                most->cpu, 100 * most->share_lost(), 1e6 * most->longest);
  finding result{"noise", severity::ok, text.data(), ""};
  if (most->share_lost() <= much_noise) return result;
  result.how = severity::warning;
  result.remedy = "find out what runs there (`weft noise`, top), or leave that cpu to it";
  return result;
}

}  // namespace weft::tools
