// SPDX-License-Identifier: Apache-2.0
// What `weft doctor` found, one thing a line.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

enum class severity {
  ok,
  warning,  ///< a job runs, but slower than it could, or not every one
  error,    ///< jobs of the kind that was asked for do not run
};

struct finding {
  std::string what;  ///< was tried
  severity how = severity::ok;
  std::string found;
  std::string remedy;  ///< empty where none is needed
};

/// The worst of all; ok of none.
severity worst_of(const std::vector<finding>& all);

/// The exit status that says so. 1 and 2 are, as of every command, failures of its own and of its command line.
int exit_status(severity worst);

/// "warning  governor         powersave: ...", a line each.
std::string to_text(const std::vector<finding>& all);

/// One JSON object, indented.
std::string to_json(const std::vector<finding>& all);

}  // namespace weft::tools
