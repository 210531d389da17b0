// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <weft/fabric/interfaces.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/text_file.hpp>

#include "subnet.hpp"

namespace weft::fabric {
namespace {

constexpr std::size_t most_told = 16;

/// One word of an option: an interface's name or a subnet, wanted or excluded.
struct interface_pattern {
  bool excludes = false;
  std::string name;
  std::optional<subnet> addresses{};

  bool fits(const network_interface& one) const { return addresses ? addresses->holds(one.address) : one.name == name; }
};

[[noreturn]] void refuse(const std::string& wanted, const std::string& why) {
  throw error(errc::invalid_argument, "WEFT_INTERFACE=" + wanted + ": " + why);
}

interface_pattern parse_pattern(const std::string& wanted, std::string word) {
  interface_pattern result;
  if (word.starts_with('^')) result.excludes = true, word.erase(0, 1);
  if (word.empty() || word.find_first_of(" ^") != std::string::npos)
    refuse(wanted, "\"" + word + "\" is no name of an interface and no subnet; eth0, ^docker0 and 10.7.0.0/16 are");
  if (word.find('/') == std::string::npos) {
    result.name = word;
  } else if (result.addresses = parse_subnet(word); !result.addresses) {
    refuse(wanted, "\"" + word + "\" is no subnet; 10.7.0.0/16 and fd00:7::/64 are");
  }
  return result;
}

std::vector<interface_pattern> parse_patterns(const std::string& wanted) {
  std::vector<interface_pattern> result;
  for (const std::string_view word : parts_of(wanted, ',')) result.push_back(parse_pattern(wanted, std::string(word)));
  if (wanted.ends_with(',')) refuse(wanted, "nothing stands behind the last comma");
  return result;
}

/// The interfaces that /proc/net/route (IPv4) and ipv6_route name for everything that has no route of its own.
std::vector<std::string> with_default_route(int family) {
  std::vector<std::string> names;
  const std::string table = read_text(family == AF_INET ? "/proc/net/route" : "/proc/net/ipv6_route").value_or("");
  for (const std::string_view line : lines_of(table)) {
    const auto field = words_of(line);
    if (family == AF_INET && field.size() > 7 && field[1] == "00000000" && field[7] == "00000000")
      names.emplace_back(field[0]);
    if (family == AF_INET6 && field.size() > 9 && field[0] == std::string(32, '0') && field[1] == "00")
      names.emplace_back(field[9]);
  }
  return names;
}

/// Asks the system of an interface. False where there is none of that name.
bool ask(const std::string& name, unsigned long what, ifreq& answer) {
  const file_descriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any || name.size() >= sizeof answer.ifr_name) return false;
  std::memcpy(answer.ifr_name, name.c_str(), name.size() + 1);
  return ::ioctl(any.get(), what, &answer) == 0;
}

std::uint32_t speed_of(const std::string& name) {
  ethtool_cmd found{};
  found.cmd = ETHTOOL_GSET;
  ifreq asked{};
  asked.ifr_data = reinterpret_cast<char*>(&found);
  if (!ask(name, SIOCETHTOOL, asked)) return 0;
  const std::uint32_t megabits = ethtool_cmd_speed(&found);
  return megabits == static_cast<std::uint32_t>(SPEED_UNKNOWN) ? 0 : megabits;
}

int bits_of_mask(const ifaddrs& one) {
  if (one.ifa_netmask == nullptr) return one.ifa_addr->sa_family == AF_INET ? 32 : 128;
  const auto* v4 = &reinterpret_cast<const sockaddr_in*>(one.ifa_netmask)->sin_addr;
  if (one.ifa_addr->sa_family == AF_INET) return std::popcount(v4->s_addr);
  int bits = 0;
  for (const std::uint8_t byte : reinterpret_cast<const sockaddr_in6*>(one.ifa_netmask)->sin6_addr.s6_addr)
    bits += std::popcount(byte);
  return bits;
}

/// Why nobody elsewhere would get an answer, whatever is wanted; empty: somebody may.
std::string why_silent(const ifaddrs& one) {
  if ((one.ifa_flags & IFF_UP) == 0) return "is down";
  if (one.ifa_addr->sa_family == AF_INET6 &&
      IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr))
    return "an address that its own wire alone knows";
  return "";
}

/// Why it is not taken unless it is asked for.
std::string why_unlikely(const ifaddrs& one, const network_interface& is) {
  if ((one.ifa_flags & IFF_LOOPBACK) != 0) return "reaches this host alone";
  if ((one.ifa_flags & IFF_RUNNING) == 0) return "has no carrier";
  if (parse_subnet("169.254.0.0/16")->holds(is.address)) return "an address that its own wire alone knows";
  return "";
}

interface_candidate candidate_of(const ifaddrs& one, const std::vector<interface_pattern>& patterns) {
  const int family = one.ifa_addr->sa_family;
  const void* const bytes =
      family == AF_INET ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(one.ifa_addr)->sin_addr)
                        : &reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr;
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(family, bytes, text, sizeof text);
  interface_candidate result{{one.ifa_name, text, bits_of_mask(one)}, why_silent(one)};
  const auto fits = [&](const interface_pattern& each) { return each.fits(result.is); };
  const auto includes = [](const interface_pattern& each) { return !each.excludes; };
  bool named = false, excluded = false;
  for (const interface_pattern& each : patterns)
    if (fits(each)) (each.excludes ? excluded : named) = true;
  const bool lists = std::ranges::any_of(patterns, includes);
  if (excluded || (lists && !named))
    result.rejected = "not wanted by WEFT_INTERFACE";
  else if (result.rejected.empty() && !named)
    result.rejected = why_unlikely(one, result.is);
  return result;
}

}  // namespace

std::string to_string(const network_interface& one) {
  return one.name + " " + one.address + "/" + std::to_string(one.prefix);
}

std::vector<interface_candidate> list_interfaces(const std::string& wanted) {
  const auto patterns = parse_patterns(wanted);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw_system_error(errno, "getifaddrs", "listing the interfaces of this host");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  const auto v4 = with_default_route(AF_INET), v6 = with_default_route(AF_INET6);
  std::vector<interface_candidate> result;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    result.push_back(candidate_of(*one, patterns));
    result.back().is.speed = speed_of(result.back().is.name);
    result.back().is.default_route = std::ranges::count(family == AF_INET ? v4 : v6, result.back().is.name) > 0;
  }
  const auto told = [](const interface_candidate& each) { return each.rejected.empty(); };
  if (!wanted.empty() && std::ranges::none_of(result, told)) {
    std::string here;
    for (const interface_candidate& each : result) here += (here.empty() ? "" : ", ") + to_string(each.is);
    refuse(wanted, "leaves no interface that is up; this host has " + here);
  }
  return result;
}

std::vector<network_interface> usable_interfaces(const std::string& wanted, const std::string& address) {
  const std::string only = address.empty() ? "" : check_address(address);
  std::vector<network_interface> result;
  for (interface_candidate& each : list_interfaces(wanted))
    if ((only.empty() ? each.rejected.empty() : each.is.address == only) && result.size() < most_told)
      result.push_back(std::move(each.is));
  return result;
}

bool is_running(const std::string& name) {
  ifreq asked{};
  return ask(name, SIOCGIFFLAGS, asked) && (asked.ifr_flags & IFF_UP) != 0 && (asked.ifr_flags & IFF_RUNNING) != 0;
}

}  // namespace weft::fabric
