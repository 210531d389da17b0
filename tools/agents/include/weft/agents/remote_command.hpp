// SPDX-License-Identifier: Apache-2.0
// What a remote shell is to run on another host.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

/// `text` as one word for a shell.
std::string shell_quoted(const std::string& text);

/// The command, for a shell, that becomes `program` with these arguments, with the libraries that this process finds.
std::string remote_command(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace weft::tools
