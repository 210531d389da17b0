// SPDX-License-Identifier: Apache-2.0
#include <weft/simulator/timeline.hpp>

namespace weft::simulator {

const char* name(activity_kind kind) {
  constexpr std::array names{"send overhead", "transfer", "receive overhead", "compute"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace weft::simulator
