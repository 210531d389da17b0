// SPDX-License-Identifier: Apache-2.0
// What every part of the strict provider asks: the settings, chance, and what happens when a rule is broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace strict {

/// From the environment, read once.
struct settings {
  std::uint64_t seed;  ///< WEFT_TEST_SEED, or a new one; printed when a rule is broken
  std::size_t inject;  ///< WEFT_STRICT_INJECT: the most that is announced; 64
  /// WEFT_STRICT_NAME: a NIC's provider of that name, too, which is the default one on loopback in disguise: its
  /// addresses say nothing, and it knows no interfaces. Empty: none.
  std::string name;
  bool shuffles_frames;  ///< WEFT_STRICT_FRAMES=shuffled: what lands in multi-receive buffers is reported in any order
};
const settings& chosen();

/// Prints the rule and how it was broken, and aborts: a test must not go on.
[[noreturn]] void broken(const std::string& rule, const std::string& how);

/// One time in `times`.
inline bool one_in(unsigned times, std::mt19937_64& random) { return random() % times == 0; }

}  // namespace strict
