// SPDX-License-Identifier: Apache-2.0
#include "libfabric_registration.hpp"

#include <utility>

namespace weft::fabric {

bool libfabric_registration::keep(std::span<const std::byte> memory, std::uint64_t access,
                                  fabric_handle<fid_mr>& kept) {
  if (!on_) return true;
  fid_mr* made = nullptr;
  const int result =
      fi_mr_reg(endpoint_.domain(), memory.data(), memory.size(), access, 0, next_key_++, 0, &made, nullptr);
  if (result == -FI_EAGAIN) return false;
  check_fabric(result, endpoint_.limits().provider, "fi_mr_reg");
  kept.reset(made);
  return true;
}

bool libfabric_registration::add_registered(std::span<const std::byte> memory, std::uint64_t access, transfer& context,
                                            void*& descriptor) {
  fabric_handle<fid_mr> region;
  if (!keep(memory, access, region)) return false;
  descriptor = fi_mr_desc(region.get());
  held_.insert_or_assign(&context, std::move(region));
  return true;
}

}  // namespace weft::fabric
