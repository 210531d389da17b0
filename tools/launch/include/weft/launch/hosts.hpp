// SPDX-License-Identifier: Apache-2.0
// The hosts that a job runs on, as its user names them, and who of the job runs where.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/processes/job_settings.hpp>

namespace weft::tools {

/// Of a job, and of a host.
inline constexpr int most_ranks = 1'000'000;

struct named_host {
  std::string name;
  std::optional<int> ranks;  ///< nothing: not said
};

/// Reads "a:4,n[1-4,7]:2,c": brackets stand for several hosts, as topology::expand_host_list reads them, unless what is
/// in them at the begin of a name has a colon, as an IPv6 address does. A host that is named again adds to what it had.
/// Throws weft::error with errc::invalid_argument that says what is wrong and what would be right.
std::vector<named_host> parse_hosts(const std::string& list);

/// Reads a file of such lists, one a line, with "slots=N" in place of ":N" where one likes; # begins a comment. Throws
/// the same, with the line's number, and for a file that cannot be read.
std::vector<named_host> read_hostfile(const std::string& path);

struct host_choice {
  int ranks = 0;           ///< of the job; 0: as many as the hosts have room for
  int ranks_per_node = 0;  ///< of every host, whatever it says itself; 0: not said
  int ranks_per_process = 1;
};

/// Fills the hosts one after another; those left over are not among the result. A host that says nothing has room for
/// one rank. Throws weft::error with errc::invalid_argument when the ranks do not fit, or do not fill the processes of
/// a host that is not the last.
std::vector<host_share> allot(const std::vector<named_host>& hosts, const host_choice& choice);

}  // namespace weft::tools
