// SPDX-License-Identifier: Apache-2.0
// The rendezvous of a job, served from within srun.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/runtime/rendezvous_thread.hpp>
#include <weft/runtime/tcp_store.hpp>

namespace weft::tools {

/// Serves in a thread of its own, which takes no signals, until it is destroyed.
class slurm_rendezvous {
 public:
  /// Listens on these of this machine's addresses, once on each. Throws as tcp_store_server does.
  slurm_rendezvous(const store_job& job, const std::vector<std::string>& hosts);

  /// What processes connect to, for each of `hosts`.
  const std::vector<std::string>& addresses() const noexcept { return addresses_; }

 private:
  std::vector<std::string> addresses_;
  std::optional<rendezvous_thread> thread_;
};

/// The address of this machine that packets to `host`, a name or an address, go out from. Blocks while the name is
/// looked up. Throws weft::error when the system knows none.
std::string address_towards(const std::string& host);

}  // namespace weft::tools
