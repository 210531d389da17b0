// SPDX-License-Identifier: Apache-2.0
#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string name_of(std::size_t size) { return "shared memory of " + std::to_string(size) + " bytes"; }

/// Beyond the limit the kernel would send SIGXFSZ, which ends a process that has not asked for it.
void check_file_limit(std::size_t size) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size)
    throw_system_error(EFBIG, "memfd_create",
                       name_of(size) + ", where RLIMIT_FSIZE allows " + std::to_string(limit.rlim_cur));
}

}  // namespace

file_descriptor make_shared_memory(std::size_t size) {
  check_file_limit(size);
  file_descriptor memory(::memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) throw_system_error(errno, "memfd_create", name_of(size));
  if (::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) throw_system_error(errno, "ftruncate", name_of(size));
  if (::fcntl(memory.get(), F_ADD_SEALS, seals) != 0) throw_system_error(errno, "fcntl", name_of(size));
  return memory;
}

void reserve_shared_memory(const file_descriptor& memory, std::size_t offset, std::size_t size) {
  check_file_limit(offset + size);
  for (;;) {
    if (::fallocate(memory.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0) return;
    if (errno != EINTR) throw_system_error(errno, "fallocate", name_of(size));
  }
}

void check_shared_memory(const file_descriptor& memory, std::size_t size) {
  struct stat found {};
  const int sealed = ::fcntl(memory.get(), F_GET_SEALS);
  if (sealed < 0 || (sealed & seals) != seals || ::fstat(memory.get(), &found) != 0 ||
      found.st_size != static_cast<off_t>(size))
    throw error(errc::protocol, "what came as " + name_of(size) + " is something else");
}

mapping::mapping(const file_descriptor& memory, std::size_t offset, std::size_t size) : size_(size) {
  void* const begin =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), static_cast<off_t>(offset));
  if (begin == MAP_FAILED) throw_system_error(errno, "mmap", name_of(size));
  begin_ = static_cast<std::byte*>(begin);
}

mapping::mapping(mapping&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)) {}

mapping& mapping::operator=(mapping&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(size_, other.size_);
  return *this;
}

void mapping::dump_only(std::size_t offset, std::size_t size) const noexcept {
  ::madvise(begin_, offset, MADV_DONTDUMP);
  ::madvise(begin_ + offset + size, size_ - offset - size, MADV_DONTDUMP);
}

mapping::~mapping() {
  if (begin_ != nullptr) ::munmap(begin_, size_);
}

}  // namespace weft::fabric
