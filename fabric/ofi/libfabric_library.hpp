// SPDX-License-Identifier: Apache-2.0
// libfabric, loaded when an endpoint is first needed. It is not linked to, since what it links to in turn takes some
// 13 ms of processor time to load, and libinfinipath up to 0.2 s to measure the processor's clock, in every process and
// before `main`: most jobs of one node, and commands that only plan, need none of it. It is linked where programs are
// to be static, or where it is built with weft: that one links to nothing in turn.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <string>

namespace weft::fabric {

/// All that libfabric exports and weft uses; the rest goes through the tables of what it opens.
struct libfabric_library {
  decltype(&::fi_getinfo) getinfo;
  decltype(&::fi_dupinfo) dupinfo;
  decltype(&::fi_freeinfo) freeinfo;
  decltype(&::fi_fabric) fabric;
  decltype(&::fi_strerror) strerror;
  decltype(&::fi_version) version;
};

/// Loads it at the first call; it stays for the rest of the process. The host's signal handlers stay as they are.
/// Throws errc::provider_failed where it is not to be had, errc::no_provider where weft is built without. Blocks for up
/// to some 0.2 s, the first time. Any thread may call it.
const libfabric_library& libfabric();

/// Throws weft::error (errc::provider_failed): "PROVIDER: CALL: text of libfabric". `result` is what the call returned.
[[noreturn]] void throw_fabric_error(const std::string& provider, const char* call, long result);

/// Throws as above unless `result` is 0.
inline void check_fabric(long result, const std::string& provider, const char* call) {
  if (result != 0) throw_fabric_error(provider, call, result);
}

}  // namespace weft::fabric
