// SPDX-License-Identifier: Apache-2.0
// Owning handles for libfabric's objects.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <memory>

#include "libfabric_library.hpp"

namespace weft::fabric {

/// The libfabric interface that weft is written against.
inline constexpr unsigned fabric_api = FI_VERSION(1, 17);

struct fid_closer {
  template <class Fid>
  void operator()(Fid* open) const noexcept {
    fi_close(&open->fid);  // fails only for objects still in use: their owners' member order rules that out
  }
};
/// An open fid_fabric, fid_domain, fid_cq ...: closed once, in the reverse order of its owner's members.
template <class Fid>
using fabric_handle = std::unique_ptr<Fid, fid_closer>;

}  // namespace weft::fabric
