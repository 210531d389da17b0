#include <sys/stat.h>

#include <fstream>
#include <weft/runtime/node_identity.hpp>

namespace weft {

std::string node_identity() {
  std::string boot_id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id);
  struct stat network {};
  ::stat("/proc/self/ns/net", &network);
  return boot_id + "/" + std::to_string(network.st_ino);
}

}  // namespace weft
