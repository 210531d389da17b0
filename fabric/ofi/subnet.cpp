// SPDX-License-Identifier: Apache-2.0
#include "subnet.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace weft::fabric {

bool subnet::holds(const std::string& address) const { return subnet_of(address, prefix) == *this; }

std::optional<subnet> subnet_of(const std::string& address, int prefix) {
  subnet result;
  result.prefix = prefix;
  result.is_v6 = address.find(':') != std::string::npos;
  if (prefix < 0 || prefix > (result.is_v6 ? 128 : 32)) return std::nullopt;
  if (::inet_pton(result.is_v6 ? AF_INET6 : AF_INET, address.c_str(), result.bits.data()) != 1) return std::nullopt;
  for (int bit = prefix; bit < 128; ++bit)
    result.bits[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
  return result;
}

std::optional<subnet> parse_subnet(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  int prefix = 0;
  const char* const end = text.data() + text.size();
  const auto [last, failure] = std::from_chars(text.data() + slash + 1, end, prefix);
  if (failure != std::errc{} || last != end) return std::nullopt;
  return subnet_of(text.substr(0, slash), prefix);
}

}  // namespace weft::fabric
