// SPDX-License-Identifier: Apache-2.0
#include "vote.hpp"

#include <algorithm>
#include <weft/fabric/wire_bytes.hpp>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

void put_set(std::vector<std::byte>& to, const std::vector<bool>& set) {
  std::vector<std::uint8_t> packed((set.size() + 7) / 8);
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i]) packed[i / 8] = static_cast<std::uint8_t>(packed[i / 8] | 1U << i % 8);
  put(to, std::as_bytes(std::span(packed)));
}

std::vector<bool> take_set(byte_reader& from, std::size_t size) {
  const auto packed = from.bytes((size + 7) / 8);
  std::vector<bool> result(size);
  if (from.good())
    for (std::size_t i = 0; i < size; ++i) result[i] = (packed[i / 8] >> i % 8 & std::byte{1}) != std::byte{0};
  return result;
}

void put_list(std::vector<std::byte>& to, const std::vector<int>& list) {
  put(to, static_cast<std::uint16_t>(list.size()));
  for (const int each : list) put(to, static_cast<std::uint32_t>(each));
}

/// Empty for one that is not ascending or goes beyond `processes`.
std::optional<std::vector<int>> take_list(byte_reader& from, std::size_t processes) {
  std::vector<int> result;
  for (auto count = from.number<std::uint16_t>(); count > 0 && from.good(); --count) {
    const auto next = from.number<std::uint32_t>();
    if (next >= processes || (!result.empty() && static_cast<int>(next) <= result.back())) return std::nullopt;
    result.push_back(static_cast<int>(next));
  }
  return result;
}

void put_ballot(std::vector<std::byte>& to, const ballot& number) {
  put(to, number.round);
  put(to, number.proposer);
}

ballot take_ballot(byte_reader& from) {
  const auto round = from.number<std::uint32_t>();
  return {round, from.number<std::uint32_t>()};
}

}  // namespace

std::vector<std::byte> encode(const vote& said) {
  std::vector<std::byte> result;
  put(result, said.view);
  put_ballot(result, said.promised);
  put_ballot(result, said.accepted);
  put_set(result, said.members);
  put_set(result, said.chosen);
  put_list(result, said.around.hears);
  put_list(result, said.around.silent);
  put_list(result, said.around.held);
  return result;
}

vote decode_vote(std::span<const std::byte> bytes, int processes) {
  const auto size = static_cast<std::size_t>(processes);
  byte_reader from(bytes);
  vote result;
  result.view = from.number<std::uint32_t>();
  result.promised = take_ballot(from);
  result.accepted = take_ballot(from);
  result.members = take_set(from, size);
  if (result.accepted.round != 0) result.chosen = take_set(from, size);
  auto hears = take_list(from, size);
  auto silent = take_list(from, size);
  auto held = take_list(from, size);
  const bool numbered = result.promised.proposer < size && result.accepted.proposer < size;
  if (!from.good() || !from.rest().empty() || !hears || !silent || !held || !numbered ||
      result.accepted > result.promised)
    throw error(errc::protocol, "a vote of " + std::to_string(bytes.size()) + " bytes that no process of " +
                                    std::to_string(processes) + " can mean");
  result.around = {std::move(*hears), std::move(*silent), std::move(*held)};
  return result;
}

}  // namespace weft::fabric
