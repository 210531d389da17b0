// SPDX-License-Identifier: Apache-2.0
#include "libfabric_registration.hpp"

#include <utility>

namespace weft::fabric {

fabric_handle<fid_mr> libfabric_registration::keep(std::span<const std::byte> memory, std::uint64_t access) {
  if (!on_) return nullptr;
  fid_mr* made = nullptr;
  const int result =
      fi_mr_reg(endpoint_.domain(), memory.data(), memory.size(), access, 0, next_key_++, 0, &made, nullptr);
  check_fabric(result, endpoint_.limits().provider, "fi_mr_reg");
  return fabric_handle<fid_mr>(made);
}

void* libfabric_registration::add_registered(std::span<const std::byte> memory, std::uint64_t access,
                                             transfer& context) {
  fabric_handle<fid_mr> region = keep(memory, access);
  void* const descriptor = fi_mr_desc(region.get());
  held_.insert_or_assign(&context, std::move(region));
  return descriptor;
}

}  // namespace weft::fabric
