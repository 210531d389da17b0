// SPDX-License-Identifier: Apache-2.0
// Lists of hosts as Slurm writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

/// More hosts than this are taken for a mistake: bounds what a short text can make us allocate.
inline constexpr std::size_t most_hosts = std::size_t{1} << 20;

/// The names in a list such as "login,node[1-4,7,010-012],rack[0-1]n[0-7]": names with commas between them, brackets
/// holding numbers and ranges, both ends included, in as many digits as the first end is written with. Of several
/// brackets the last runs fastest. Repeated names are kept. Throws errc::invalid_argument that says what is wrong with
/// which part: a bracket left open or empty, a range that runs backwards, a name that is empty or has more than 255
/// characters, more than most_hosts.
std::vector<std::string> expand_host_list(std::string_view list);

}  // namespace weft::topology
