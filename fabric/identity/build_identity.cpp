#include <weft/fabric/build_identity.hpp>

namespace weft::fabric {

build_identity this_build() { return {.wire = build_identity::current_wire, .features = 0, .version = WEFT_VERSION}; }

std::string describe_incompatible(int process, const std::string& host, const build_identity& other) {
  const build_identity own = this_build();
  return "process " + std::to_string(process) + " on host " + host + " runs weft " + other.version + " (wire " +
         std::to_string(other.wire) + "), this one weft " + own.version + " (wire " + std::to_string(own.wire) + ")";
}

}  // namespace weft::fabric
