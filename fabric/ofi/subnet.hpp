// SPDX-License-Identifier: Apache-2.0
// IP addresses that begin alike.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace weft::fabric {

struct subnet {
  std::array<std::uint8_t, 16> bits{};  ///< of IPv4 addresses the first four; zero behind the prefix
  int prefix = 0;
  bool is_v6 = false;

  auto operator<=>(const subnet&) const = default;

  /// Whether `address`, numeric, begins as this does.
  bool holds(const std::string& address) const;
};

/// The subnet of `prefix` bits that `address` is in; nothing where it is no numeric address or has fewer bits.
std::optional<subnet> subnet_of(const std::string& address, int prefix);

/// That of "10.7.0.0/16".
std::optional<subnet> parse_subnet(const std::string& text);

}  // namespace weft::fabric
