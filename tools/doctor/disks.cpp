// SPDX-License-Identifier: Apache-2.0
#include "disks.hpp"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

namespace weft::tools {
namespace {

constexpr std::uint64_t least_bytes = std::uint64_t{64} << 20, least_files = 64;

}  // namespace

folder_room room_in(const std::string& folder) {
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return {folder, errno};
  return {
      folder,        0, (found.f_flag & ST_RDONLY) != 0, std::uint64_t{found.f_bavail} * found.f_frsize, found.f_files,
      found.f_favail};
}

finding check_room(const std::string& name, const folder_room& in, const std::string& what) {
  const auto warning = [&](const std::string& found, const std::string& remedy) {
    return finding{name, severity::warning, in.folder + ": " + found, remedy};
  };
  const std::string elsewhere = what + " are written there: ";
  if (in.failure != 0)
    return warning(std::string("statvfs: ") + std::strerror(in.failure),
                   elsewhere + "make that folder, or go elsewhere");
  if (in.read_only) return warning("can only be read", elsewhere + "go elsewhere, or mount it to be written");
  const std::string free = std::to_string(in.free_bytes >> 20) + " MiB free";
  if (in.free_bytes < least_bytes) return warning(free, elsewhere + "free some (`du -x`), or go elsewhere");
  if (in.files != 0 && in.free_files < least_files)
    return warning(free + ", but for " + std::to_string(in.free_files) + " files more",
                   elsewhere + "remove files (`df -i`), or go elsewhere");
  return {name, severity::ok, in.folder + ": " + free, ""};
}

}  // namespace weft::tools
