// SPDX-License-Identifier: Apache-2.0
// How two processes of a job prove to each other that they know its secret without saying it: each draws a random
// challenge, and answers the other's with a keyed hash of it (HMAC-SHA256, RFC 2104).
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// A number used once, from the kernel's random source.
using challenge = std::array<std::byte, 32>;

/// What only one who knows the secret can compute.
using proof = std::array<std::byte, 32>;

/// Draws a challenge that nobody can foresee. Throws a system error if the kernel gives none.
challenge draw_challenge();

/// A secret of 256 random bits, in hexadecimal.
std::string make_secret();

/// The keyed hash of `parts` under `secret`. `purpose` keeps a proof from serving elsewhere: the two ends of a
/// connection, and different protocols, use different ones. Every part is hashed with its length, so parts cannot be
/// shifted. Both challenges belong among the parts.
proof prove(std::span<const std::byte> secret, std::string_view purpose,
            std::initializer_list<std::span<const std::byte>> parts);

/// Whether `given` is `expected`, in a time that does not depend on where they differ.
bool same_proof(const proof& expected, std::span<const std::byte> given) noexcept;

}  // namespace weft
