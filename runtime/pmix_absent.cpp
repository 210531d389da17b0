// SPDX-License-Identifier: Apache-2.0
// In place of the store over PMIx where weft is built without PMIx's headers.
#include <weft/runtime/error.hpp>

#include "met_job.hpp"

namespace weft {
namespace {

[[noreturn]] void throw_absent() {
  throw error(errc::no_rendezvous,
              "this build of weft has no PMIx: install its headers (Debian's package libpmix-dev) and build weft anew");
}

}  // namespace

met_job connect_pmix_store(const pmix_environment&, store::clock::time_point) { throw_absent(); }

launcher_greeting greet_pmix(const pmix_environment&, store::clock::time_point) { throw_absent(); }

}  // namespace weft
