// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <weft/runtime/launch.hpp>
#include <weft/runtime/text_file.hpp>

namespace weft {

std::string node_identity() {
  const std::string boot_id(first_word_of(read_text("/proc/sys/kernel/random/boot_id").value_or("")));
  struct stat network {};
  ::stat("/proc/self/ns/net", &network);
  return boot_id + "/" + std::to_string(network.st_ino);
}

}  // namespace weft
