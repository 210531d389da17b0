#include "checked_length.hpp"

#include <cstdint>
#include <span>

#include "bytes.hpp"

namespace weft {

void append_length(std::vector<std::byte>& to) { append(to, static_cast<std::uint64_t>(to.size())); }

bool take_length(std::vector<std::byte>& from) {
  if (from.size() < sizeof(std::uint64_t)) return false;
  const std::size_t size = from.size() - sizeof(std::uint64_t);
  auto length = std::span<const std::byte>(from).subspan(size);
  if (take<std::uint64_t>(length) != size) return false;
  from.resize(size);
  return true;
}

}  // namespace weft
