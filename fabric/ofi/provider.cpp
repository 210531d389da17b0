// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>
#include <weft/fabric/provider.hpp>
#include <weft/runtime/error.hpp>

#include "fabric_handle.hpp"
#include "libfabric_library.hpp"
#include "signal_handlers_kept.hpp"

namespace weft::fabric {
namespace {

/// In the order of preference.
constexpr provider_traits tried[] = {
    {.name = "net", .frame = SIZE_MAX, .one_stream = true},
    {.name = "tcp", .frame = SIZE_MAX, .one_stream = true},
    {.name = "tcp;ofi_rxm"},
    {.name = "shm",
     .window = 32 << 10,
     .one_host = true,
     .late_option = true,
     .harm = "can hang the survivors when a process dies"},
    {.name = "udp;ofi_rxd",
     .credit = 256 << 10,
     .warning = "udp;ofi_rxd ends the process on stray packets and truncates in silence: for experiments only"},
    {.name = "sockets", .warning = "sockets is slow and has left libfabric 2: for experiments only"},
};

std::string or_empty(const char* text) { return text != nullptr ? text : ""; }

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// The numeric addresses of this machine's interfaces.
std::vector<std::string> local_addresses() {
  std::vector<std::string> found;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw_system_error(errno, "getifaddrs", "listing the interfaces of this host");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN];
    const void* bytes = nullptr;
    if (one->ifa_addr->sa_family == AF_INET) {
      bytes = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      bytes = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    }
    if (bytes != nullptr && inet_ntop(one->ifa_addr->sa_family, bytes, text, sizeof text) != nullptr) {
      found.push_back(text);
    }
  }
  return found;
}

bool is_tried(std::string_view provider) { return !traits_of(provider).name.empty(); }

bool is_refused(std::string_view provider, unsafe_providers unsafe) {
  return *traits_of(provider).harm != '\0' && unsafe == unsafe_providers::refused;
}

/// "can hang ...; WEFT_UNSAFE_PROVIDER=1 takes it all the same"
std::string harm_of(std::string_view provider) {
  return std::string(traits_of(provider).harm) +
         "; --weft-unsafe-provider=on, or WEFT_UNSAFE_PROVIDER=1, takes it all the same";
}

provider_info get_info(const char* node, const fi_info* hints) {
  fi_info* found = nullptr;
  const int result =
      libfabric().getinfo(fabric_api, node, nullptr, node != nullptr ? FI_SOURCE | FI_NUMERICHOST : 0, hints, &found);
  if (result != 0 && result != -FI_ENODATA) throw_fabric_error("any", "fi_getinfo", result);
  return provider_info(found);
}

/// What libfabric_transport needs, of the provider `name`.
provider_info hints_for(const std::string& name) {
  provider_info hints(libfabric().dupinfo(nullptr));
  if (hints == nullptr) throw_fabric_error(name, "fi_dupinfo", FI_ENOMEM);
  hints->caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV | FI_DIRECTED_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  // One thread at a time drives everything, and weft polls: no locks and no thread of the provider's.
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->fabric_attr->prov_name = strdup(name.c_str());  // freed by fi_freeinfo
  return hints;
}

std::string address_text(const fi_info& info) {
  if (info.src_addr == nullptr) return "";
  switch (info.addr_format) {
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6: {
      char text[INET6_ADDRSTRLEN] = "";
      const auto* socket = static_cast<const sockaddr*>(info.src_addr);
      if (socket->sa_family == AF_INET) {
        inet_ntop(AF_INET, &static_cast<const sockaddr_in*>(info.src_addr)->sin_addr, text, sizeof text);
      } else if (socket->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr, text, sizeof text);
      }
      return text;
    }
    case FI_ADDR_STR:
      return static_cast<const char*>(info.src_addr);
    default:
      return "";
  }
}

/// Whether it is exactly that provider, with the order that messages need.
bool fits(const fi_info& entry, const std::string& name) {
  return or_empty(entry.fabric_attr->prov_name) == name &&
         (entry.tx_attr->msg_order & entry.rx_attr->msg_order & FI_ORDER_SAS) != 0;
}

/// The first entry of `found` that fits and is on the interface of `address`, or needs none; null when there is none.
provider_info first_fit(const provider_info& found, const std::string& name, const std::string& address) {
  for (const fi_info* entry = found.get(); entry != nullptr; entry = entry->next)
    if (fits(*entry, name) && (!speaks_ip(*entry) || address_text(*entry) == address))
      return provider_info(libfabric().dupinfo(entry));
  return nullptr;
}

provider_info find(const std::string& name, const std::string& address) {
  const provider_info hints = hints_for(name);
  if (!is_tried(name) || traits_of(name).one_host) {
    provider_info found = first_fit(get_info(nullptr, hints.get()), name, address);
    if (found != nullptr || traits_of(name).one_host) return found;
  }
  return first_fit(get_info(address.c_str(), hints.get()), name, address);
}

std::string why_not(const fi_info& entry, const std::string& provider, const std::string& wanted,
                    const std::string& address, unsafe_providers unsafe) {
  if (is_refused(provider, unsafe)) return harm_of(provider);
  if (provider != wanted) return is_tried(provider) ? "not asked for" : "not asked for, and not tried with weft";
  if (entry.ep_attr->type != FI_EP_RDM) return "no reliable datagram endpoint";
  if (speaks_ip(entry) && address_text(entry) != address) return "another interface than that of " + address;
  const std::uint64_t needed = FI_MSG | FI_TAGGED | FI_MULTI_RECV;
  if ((entry.caps & needed) != needed) return "no tagged messages or no multi-receive";
  return "another of the same was first";
}

/// Everything that libfabric offers here. The entry of `chosen` comes first.
std::vector<provider_candidate> list_candidates(const fi_info* chosen, const std::string& wanted,
                                                const std::string& address, unsafe_providers unsafe) {
  const auto identity = [](const fi_info& entry) {
    return provider_candidate{or_empty(entry.fabric_attr->prov_name), or_empty(entry.fabric_attr->name),
                              or_empty(entry.domain_attr->name), address_text(entry), ""};
  };
  const auto key = [](const provider_candidate& one, int type) {
    return one.provider + '\n' + one.fabric + '\n' + one.domain + '\n' + one.address + '\n' + std::to_string(type);
  };
  std::vector<provider_candidate> candidates;
  std::set<std::string> seen;
  if (chosen != nullptr) {
    candidates.push_back(identity(*chosen));
    seen.insert(key(candidates.back(), chosen->ep_attr->type));
  }
  const provider_info all = get_info(nullptr, nullptr);
  for (const fi_info* entry = all.get(); entry != nullptr; entry = entry->next) {
    provider_candidate candidate = identity(*entry);
    if (!seen.insert(key(candidate, entry->ep_attr->type)).second) continue;
    candidate.rejected = why_not(*entry, candidate.provider, wanted, address, unsafe);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

[[noreturn]] void throw_no_provider(const std::string& wanted, const std::string& address, unsafe_providers unsafe) {
  std::vector<std::string> valid;
  for (const std::string& name : known_providers()) {
    if (name != wanted && !is_refused(name, unsafe) && find(name, address) != nullptr) valid.push_back(name);
  }
  std::string message = "provider \"" + wanted + "\" is not to be had here";
  for (const provider_candidate& one : list_candidates(nullptr, wanted, address, unsafe)) {
    if (one.provider == wanted) {
      message += " (" + one.domain + ": " + one.rejected + ")";
      break;
    }
  }
  throw error(errc::no_provider, message + "; valid: " + (valid.empty() ? "none" : joined(valid)));
}

}  // namespace

void info_deleter::operator()(fi_info* info) const noexcept { libfabric().freeinfo(info); }

bool speaks_ip(const fi_info& info) noexcept {
  return info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6;
}

const provider_traits& traits_of(std::string_view provider) {
  const auto found = std::ranges::find(tried, provider, &provider_traits::name);
  static constexpr provider_traits usual{.name = {}, .in_order = false};
  return found != std::end(tried) ? *found : usual;
}

const std::vector<std::string>& known_providers() {
  static const auto names = [] {
    std::vector<std::string> all;
    for (const provider_traits& each : tried) all.emplace_back(each.name);
    return all;
  }();
  return names;
}

std::string check_address(const std::string& address) {
  unsigned char bytes[sizeof(in6_addr)];
  char text[INET6_ADDRSTRLEN];
  const std::vector<std::string> here = local_addresses();
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, address.c_str(), bytes) != 1 || inet_ntop(family, bytes, text, sizeof text) == nullptr)
      continue;
    if (std::find(here.begin(), here.end(), text) != here.end()) return text;
  }
  throw error(errc::invalid_argument,
              "address \"" + address + "\" is no interface's of this machine; it has " + joined(here));
}

std::string libfabric_version() {
  const std::uint32_t version = libfabric().version();
  return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

std::string default_provider() { return FI_VERSION_LT(libfabric().version(), FI_VERSION(1, 18)) ? "net" : "tcp"; }

provider_choice choose_provider(const std::string& requested, const std::string& bind_address,
                                unsafe_providers unsafe) {
  const signal_handlers_kept kept;
  const std::string address = check_address(bind_address.empty() ? "127.0.0.1" : bind_address);
  provider_choice choice;
  choice.provider = requested.empty() ? default_provider() : requested;
  choice.reason =
      requested.empty() ? "the default with this libfabric, opened where processes share no memory" : "asked for";
  if (is_refused(choice.provider, unsafe))
    throw error(errc::no_provider, "provider \"" + choice.provider + "\" " + harm_of(choice.provider));
  choice.info = find(choice.provider, address);
  if (choice.info == nullptr) throw_no_provider(choice.provider, address, unsafe);
  choice.warning = is_tried(choice.provider) ? traits_of(choice.provider).warning
                                             : "weft has not been tried with provider " + choice.provider +
                                                   ": it relies on what libfabric says of it";
  choice.candidates = list_candidates(choice.info.get(), choice.provider, address, unsafe);
  return choice;
}

}  // namespace weft::fabric
