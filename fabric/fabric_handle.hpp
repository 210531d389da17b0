// Owning handles for libfabric's objects, and its errors as exceptions.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <csignal>
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

/// Puts back, when it goes, the handlers of the signals that shm takes for itself when it is opened (SIGINT, SIGTERM,
/// SIGSEGV, SIGBUS): a library has no business with its host's signals.
class signal_handlers_kept {
 public:
  signal_handlers_kept() noexcept;
  ~signal_handlers_kept();
  signal_handlers_kept(const signal_handlers_kept&) = delete;
  signal_handlers_kept& operator=(const signal_handlers_kept&) = delete;

 private:
  static constexpr int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS};
  struct sigaction before_[4];
};

}  // namespace weft::fabric
