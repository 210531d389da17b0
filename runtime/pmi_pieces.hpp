// SPDX-License-Identifier: Apache-2.0
// Bytes of any number as values of a key-value space, which are short and of text: in base64, cut into pieces.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pmi_client.hpp"

namespace weft {

/// The pieces of `content`, none longer than `longest` characters, at least 63: each "NUMBER.BASE64" with how many
/// there are. At least one.
std::vector<std::string> cut_into_pieces(std::span<const std::byte> content, std::size_t longest);

/// Puts them under "KEY-0", "KEY-1", ...
void put_pieces(pmi_client& manager, const std::string& key, std::span<const std::byte> content,
                pmi_client::time_point deadline);

/// What another process has put so. Throws errc::protocol for pieces that are not whole.
std::vector<std::byte> get_pieces(pmi_client& manager, const std::string& key, pmi_client::time_point deadline);

}  // namespace weft
