// The first 128 bytes of a process's record and of a control hello. Their layout never changes, so that any two builds
// of weft, however far apart, can tell each other by name why they will not talk:
//
//   0  magic (8)    8  wire version (4)    12  0 (4)    16  features (8)    24  version (40)    64  host name (64)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/fabric/build_identity.hpp>

namespace weft::fabric {

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
