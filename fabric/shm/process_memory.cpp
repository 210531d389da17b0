// SPDX-License-Identifier: Apache-2.0
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
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

std::error_code read_process_memory(std::int64_t pid, std::span<const process_memory_piece> pieces) noexcept {
  std::array<iovec, most_read_at_once> here{}, there{};
  std::size_t all = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& [address, into] = pieces[i];
    here[i] = {into.data(), into.size()};
    there[i] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), into.size()};
    all += into.size();
  }
  const ssize_t read =
      ::process_vm_readv(static_cast<pid_t>(pid), here.data(), pieces.size(), there.data(), pieces.size(), 0);
  if (read >= 0 && static_cast<std::size_t>(read) == all) return {};
  for (const auto& [address, into] : pieces)  // a part of them was read: which ones cannot be
    if (const auto failed = read_process_memory(pid, address, into)) return failed;
  return {};
}

}  // namespace weft::fabric
