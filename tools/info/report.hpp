// SPDX-License-Identifier: Apache-2.0
// What `weft info` prints, as values.
#pragma once

#include <string>
#include <vector>
#include <weft/fabric/arena_trial.hpp>
#include <weft/fabric/interfaces.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/runtime/options.hpp>
#include <weft/topology/machine.hpp>
#include <weft/topology/placement.hpp>

namespace weft::tools {

struct info_report {
  std::string version;
  std::string commit;           ///< "2ab85f7b12", with "-dirty" where files were changed; "unknown"
  std::string compiler;         ///< "GCC 12.2.0"
  std::string build_type;       ///< Meson's: "release"
  std::string instruction_set;  ///< of the kernels
  std::string libfabric;        ///< "1.17"; empty: there is none

  std::string provider, provider_reason, provider_warning;
  std::string provider_failure;  ///< why there is no provider; empty: there is one
  std::vector<fabric::provider_candidate> candidates;

  std::vector<fabric::interface_candidate> interfaces;
  std::string interface, interface_reason;  ///< by which other nodes reach this one, as far as it alone can tell
  std::vector<std::string> links;  ///< the interfaces that are used side by side, if all hosts share their subnets
  std::string interface_failure;   ///< why there is none; empty: there is one

  fabric::arena_trial arena;
  bool node = true;  ///< the option: whether there is to be one

  topology::machine machine;
  topology::progress_core progress;  ///< where a progress thread of a process bound like this one goes

  std::string launchers;  ///< that this build can meet by
  std::string launcher;   ///< "weft run", another one's name; empty: none
  std::string launcher_detail;

  std::vector<option_listing> options;
};

/// Finds all of it out: loads libfabric's providers, reads the machine. Some ten milliseconds.
info_report collect_info(const options& parsed);

/// For people: first ten lines with what matters, then the rest; what of libfabric was not taken, and why, where
/// `providers` asks for it.
std::string to_text(const info_report& report, bool providers);

/// One JSON object, indented.
std::string to_json(const info_report& report);

/// "infiniband"
std::string name(topology::network_kind kind);

/// WEFT_EAGER_LIMIT of "eager-limit".
std::string variable_of(const std::string& option);

}  // namespace weft::tools
