// Owning handles for libfabric's objects, and its errors as exceptions.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <memory>
#include <string>

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

/// Throws weft::error (errc::provider_failed): "PROVIDER: CALL: text of libfabric". `result` is what the call returned.
[[noreturn]] void throw_fabric_error(const std::string& provider, const char* call, long result);

/// Throws as above unless `result` is 0.
inline void check_fabric(long result, const std::string& provider, const char* call) {
  if (result != 0) throw_fabric_error(provider, call, result);
}

}  // namespace weft::fabric
