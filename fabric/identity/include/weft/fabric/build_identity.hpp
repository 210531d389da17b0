// SPDX-License-Identifier: Apache-2.0
// Which build of weft a process runs, and how two that do not talk are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fabric {

/// Which weft a process runs.
struct build_identity {
  /// The version of everything that weft's processes say to each other. Two processes talk only if it is the same.
  static constexpr std::uint32_t current_wire = 16;

  std::uint32_t wire = current_wire;
  std::uint64_t features = 0;  ///< optional abilities, a bit each: two builds use those that both have
  std::string version;         ///< of the release, as in "0.1.0"; at most 40 bytes travel

  bool operator==(const build_identity&) const = default;
};

/// The build that this is.
build_identity this_build();

/// "process 3 on host b runs weft 0.2.0 (wire 2), this one weft 0.1.0 (wire 1)"
std::string describe_incompatible(int process, const std::string& host, const build_identity& other);

// The first 128 bytes of a process's record and of a control hello. Their layout never changes, so that any two builds
// of weft, however far apart, can tell each other by name why they will not talk:
//
//   0  magic (8)    8  wire version (4)    12  0 (4)    16  features (8)    24  version (40)    64  host name (64)

struct build_prefix {
  static constexpr std::size_t size = 128;

  build_identity build;
  std::string host;
};

/// Appends the prefix; `magic` has 8 bytes.
void put_prefix(std::vector<std::byte>& to, std::string_view magic, const build_prefix& prefix);

/// Reads the prefix off the front of `bytes`; empty if they are too few or begin with another magic.
std::optional<build_prefix> read_prefix(std::span<const std::byte> bytes, std::string_view magic);

}  // namespace weft::fabric
