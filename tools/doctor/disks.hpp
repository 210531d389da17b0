// SPDX-License-Identifier: Apache-2.0
// The room in the folders that a job writes to.
#pragma once

#include <cstdint>
#include <string>

#include "finding.hpp"

namespace weft::tools {

/// As statvfs has it.
struct folder_room {
  std::string folder;
  int failure = 0;  ///< its errno; 0: the others are known
  bool read_only = false;
  std::uint64_t free_bytes = 0;  ///< for this user
  std::uint64_t files = 0;       ///< that its file system has room for; 0: it does not count them
  std::uint64_t free_files = 0;
};

folder_room room_in(const std::string& folder);

/// `what` is written there: "results", say. Names the finding `name`.
finding check_room(const std::string& name, const folder_room& in, const std::string& what);

}  // namespace weft::tools
