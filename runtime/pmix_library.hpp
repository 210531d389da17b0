// SPDX-License-Identifier: Apache-2.0
// libpmix, loaded when a job needs it. It is not linked to, so that a program built where PMIx is also starts where it
// is not: under `weft run`, under PMI, alone.
#pragma once

#include <pmix.h>

namespace weft {

struct pmix_library {
  decltype(&::PMIx_Init) init;
  decltype(&::PMIx_Finalize) finalize;
  decltype(&::PMIx_Abort) abort;
  decltype(&::PMIx_Put) put;
  decltype(&::PMIx_Commit) commit;
  decltype(&::PMIx_Fence) fence;
  decltype(&::PMIx_Get) get;
  decltype(&::PMIx_Error_string) error_string;
  decltype(&::PMIx_Get_version) version;
};

/// Loads it at the first call; it stays for the rest of the process, since it has threads. Throws errc::no_rendezvous
/// when it is not to be had, with what is missing. Any thread may call it.
const pmix_library& load_pmix();

}  // namespace weft
