// SPDX-License-Identifier: Apache-2.0
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <weft/fabric/process_memory.hpp>

namespace weft::fabric {
namespace {

/// What one call of the kernel copies at most is a little less than 2 GiB.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

}  // namespace

std::error_code read_process_memory(std::int64_t pid, std::uint64_t address, std::span<std::byte> into) noexcept {
  while (!into.empty()) {
    const iovec here{into.data(), std::min(into.size(), most_at_once)};
    const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), here.iov_len};
    const ssize_t read = ::process_vm_readv(static_cast<pid_t>(pid), &here, 1, &there, 1, 0);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return {read < 0 ? errno : EFAULT, std::system_category()};
    into = into.subspan(static_cast<std::size_t>(read));
    address += static_cast<std::uint64_t>(read);
  }
  return {};
}

}  // namespace weft::fabric
