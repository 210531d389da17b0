// Which build of weft a process runs, and how two that do not talk are told apart.
#pragma once

#include <cstdint>
#include <string>

namespace weft::fabric {

/// Which weft a process runs.
struct build_identity {
  /// The version of everything that weft's processes say to each other. Two processes talk only if it is the same.
  static constexpr std::uint32_t current_wire = 6;

  std::uint32_t wire = current_wire;
  std::uint64_t features = 0;  ///< optional abilities, a bit each: two builds use those that both have
  std::string version;         ///< of the release, as in "0.1.0"; at most 40 bytes travel

  bool operator==(const build_identity&) const = default;
};

/// The build that this is.
build_identity this_build();

/// "process 3 on host b runs weft 0.2.0 (wire 2), this one weft 0.1.0 (wire 1)"
std::string describe_incompatible(int process, const std::string& host, const build_identity& other);

}  // namespace weft::fabric
