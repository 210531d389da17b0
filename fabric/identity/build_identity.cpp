// SPDX-License-Identifier: Apache-2.0
#include <weft/fabric/build_identity.hpp>
#include <weft/fabric/wire_bytes.hpp>

namespace weft::fabric {
namespace {

constexpr std::size_t version_width = 40;
constexpr std::size_t host_width = 64;

}  // namespace

build_identity this_build() { return {.wire = build_identity::current_wire, .features = 0, .version = WEFT_VERSION}; }

std::string describe_incompatible(int process, const std::string& host, const build_identity& other) {
  const build_identity own = this_build();
  return "process " + std::to_string(process) + " on host " + host + " runs weft " + other.version + " (wire " +
         std::to_string(other.wire) + "), this one weft " + own.version + " (wire " + std::to_string(own.wire) + ")";
}

void put_prefix(std::vector<std::byte>& to, std::string_view magic, const build_prefix& prefix) {
  put_field(to, magic, 8);
  put(to, prefix.build.wire);
  put(to, std::uint32_t{0});
  put(to, prefix.build.features);
  put_field(to, prefix.build.version, version_width);
  put_field(to, prefix.host, host_width);
}

std::optional<build_prefix> read_prefix(std::span<const std::byte> bytes, std::string_view magic) {
  if (bytes.size() < build_prefix::size) return std::nullopt;
  byte_reader reader(bytes);
  if (reader.text(8) != magic) return std::nullopt;
  build_prefix result;
  result.build.wire = reader.number<std::uint32_t>();
  reader.number<std::uint32_t>();
  result.build.features = reader.number<std::uint64_t>();
  result.build.version = reader.field(version_width);
  result.host = reader.field(host_width);
  return result;
}

}  // namespace weft::fabric
