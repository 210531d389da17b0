// SPDX-License-Identifier: Apache-2.0
// This machine among the hosts of a job.
#pragma once

#include <string>

namespace weft::tools {

/// Its name.
std::string host_name();

/// Whether `name` is its: "localhost", or its own name with or without its domain.
bool is_this_host(const std::string& name);

}  // namespace weft::tools
