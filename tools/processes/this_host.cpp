// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <weft/processes/this_host.hpp>

namespace weft::tools {
namespace {

std::string short_name(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_this_host(const std::string& name) {
  if (name == "localhost") return true;
  const std::string own = host_name();
  return name == own || short_name(name) == own || name == short_name(own);
}

}  // namespace weft::tools
