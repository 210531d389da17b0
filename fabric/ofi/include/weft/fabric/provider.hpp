// SPDX-License-Identifier: Apache-2.0
// Which libfabric provider a job uses, chosen explicitly: libfabric's own preference is an outside interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct fi_info;

namespace weft::fabric {

struct info_deleter {
  void operator()(fi_info* info) const noexcept;
};
/// What fi_getinfo returned.
using provider_info = std::unique_ptr<fi_info, info_deleter>;

/// Whether the provider's addresses are those of interfaces; others make some of their own.
bool speaks_ip(const fi_info& info) noexcept;

/// Something that libfabric offers here, and why it was not taken.
struct provider_candidate {
  std::string provider;  ///< as libfabric names it: "net", "tcp;ofi_rxm"
  std::string fabric;
  std::string domain;
  std::string address;   ///< as libfabric prints it: "fi_sockaddr_in://127.0.0.1:0"
  std::string rejected;  ///< the reason; empty for the one that was chosen
};

/// A provider and everything that opening it takes.
struct provider_choice {
  std::string provider;  ///< as libfabric names it
  std::string reason;    ///< why this one
  std::string warning;   ///< what its user should be told; empty: nothing
  provider_info info;    ///< one entry; never null
  std::vector<provider_candidate> candidates;
};

/// What sets one provider apart from another.
struct provider_traits {
  std::string_view name;
  /// Bytes on the way from one peer beside which a short message takes less than ten times its idle latency: over net
  /// 16 B take 3.5 us alone and 28 us beside pieces of 128 KiB, over shm 0.7 us alone and 4.8 us beside pieces of 8 KiB
  /// (`weft bench latency`).
  std::size_t window = 512 << 10;
  /// Bytes that a peer may have unread here, at most: udp;ofi_rxd loses some of many (with 1 MiB 17 of 40 runs of the
  /// test job `exchange` stopped for ever, with 256 KiB none; the cause is not known).
  std::size_t credit = SIZE_MAX;
  bool one_host = false;  ///< reaches no other, and has no interface
  /// Longer frames are sent only where that is asked for (the option eager-limit): they may be reported behind others
  /// that were sent later, as where the provider asks before it sends them.
  std::size_t frame = 9 << 10;
  /// All that goes to a peer by one endpoint passes one after the other, by one connection. Payloads have an endpoint
  /// of their own then, so that no frame waits for them: on a slow line grants would, and the payloads that they grant.
  bool one_stream = false;
  /// Frames are reported in the order in which they were sent. Where that is not known they are put in order again
  /// (joined_links.hpp).
  bool in_order = true;
  bool late_option = false;  ///< before libfabric 2.1 its least room for a frame can be set only when it is enabled
  const char* warning = "";  ///< to its user
  const char* harm = "";     ///< what it can do, for which it is not taken unless that is wanted all the same
};
/// Of one that weft has not been tried with: the usual, without a name.
const provider_traits& traits_of(std::string_view provider);

/// The providers that weft has been tried with, in the order of preference.
const std::vector<std::string>& known_providers();

/// Of the libfabric that is here: "1.17". Throws errc::provider_failed where none is.
std::string libfabric_version();

/// The one that is taken when none is named: net, or tcp where libfabric is 1.18 or newer (net was renamed then).
/// Throws as above.
std::string default_provider();

/// `address`, numeric, as inet_ntop writes it. Throws errc::invalid_argument where no interface of this machine has it,
/// with those that some have.
std::string check_address(const std::string& address);

/// Whether providers that can do harm are taken.
enum class unsafe_providers : bool { refused, taken };

/// Finds provider `requested` (empty: the default), whichever libfabric has, on the interface that has `bind_address`,
/// a numeric IPv4 or IPv6 address (empty: 127.0.0.1); an outside interface is taken only when its address is given. One
/// whose addresses are not IP's, as shm and those of NICs, takes the first of its devices. Throws weft::error:
/// errc::no_provider for a name that is unknown, not to be had here or refused, with those that are;
/// errc::invalid_argument for an address that no interface of this machine has, with those that some have.
/// Blocks for a tenth of a second or more, the first time in a process, while libfabric and its providers are loaded.
provider_choice choose_provider(const std::string& requested, const std::string& bind_address,
                                unsafe_providers unsafe = unsafe_providers::refused);

}  // namespace weft::fabric
