// SPDX-License-Identifier: Apache-2.0
#include "pmi_pieces.hpp"

#include <nettle/base64.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"

namespace weft {
namespace {

constexpr std::size_t most_pieces = 9'999'999;
constexpr std::size_t room_for_number = 8;  // with the dot

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(text.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return text;
}

/// Appends what `text` stands for; false when it is not base64.
bool append_base64(std::vector<std::byte>& to, std::string_view text) {
  const std::size_t before = to.size();
  to.resize(before + BASE64_DECODE_LENGTH(text.size()));
  std::size_t length = to.size() - before;
  base64_decode_ctx context;
  base64_decode_init(&context);
  const bool valid = base64_decode_update(&context, &length, reinterpret_cast<std::uint8_t*>(to.data() + before),
                                          text.size(), text.data()) != 0 &&
                     base64_decode_final(&context) != 0;
  to.resize(before + (valid ? length : 0));
  return valid;
}

std::string key_of_piece(const std::string& key, std::size_t piece) { return key + "-" + std::to_string(piece); }

}  // namespace

std::vector<std::string> cut_into_pieces(std::span<const std::byte> content, std::size_t longest) {
  std::vector<std::byte> checked(content.begin(), content.end());
  append_length(checked);
  const std::size_t each = (longest - room_for_number) / 4 * 3;
  const std::size_t number = (checked.size() + each - 1) / each;
  if (number > most_pieces)
    throw error(errc::invalid_argument, "store: " + std::to_string(content.size()) +
                                            " bytes are too many for a launcher's PMI: at most " +
                                            std::to_string(most_pieces) + " values of " + std::to_string(each));
  std::vector<std::string> pieces;
  for (std::span<const std::byte> rest = checked; !rest.empty();) {
    const auto piece = rest.first(std::min(each, rest.size()));
    pieces.push_back(std::to_string(number) + "." + to_base64(piece));
    rest = rest.subspan(piece.size());
  }
  return pieces;
}

void put_pieces(pmi_client& manager, const std::string& key, std::span<const std::byte> content,
                pmi_client::time_point deadline) {
  const auto pieces = cut_into_pieces(content, manager.longest_value());
  for (std::size_t i = 0; i < pieces.size(); ++i) manager.put(key_of_piece(key, i), pieces[i], deadline);
}

std::vector<std::byte> get_pieces(pmi_client& manager, const std::string& key, pmi_client::time_point deadline) {
  std::vector<std::byte> content;
  std::size_t number = 1;
  for (std::size_t i = 0; i < number; ++i) {
    const std::string piece = manager.get(key_of_piece(key, i), deadline);
    const auto broken = [&](const std::string& why) {
      return error(errc::protocol, manager.name() + ": value " + std::to_string(i) + " of " + key + ", of " +
                                       std::to_string(piece.size()) + " characters, " + why);
    };
    std::size_t said = 0;
    const char* const all = piece.data() + piece.size();
    const auto [dot, failure] = std::from_chars(piece.data(), all, said);
    if (failure != std::errc{} || dot == all || *dot != '.' || said == 0 || said > most_pieces ||
        (i > 0 && said != number))
      throw broken("is not what was put there");
    number = said;
    if (!append_base64(content, {dot + 1, all})) throw broken("was cut or changed: it is not base64");
  }
  if (!take_length(content))
    throw error(errc::protocol, manager.name() + ": what was put as " + key + " came back with " +
                                    std::to_string(content.size()) + " bytes: a value was cut");
  return content;
}

}  // namespace weft
