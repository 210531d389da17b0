// SPDX-License-Identifier: Apache-2.0
// What LeakSanitizer is not to report of a provider; nothing in an ordinary build.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_LEAK_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_LEAK_SANITIZER 1
#endif
#endif

#ifdef WEFT_LEAK_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace weft::fabric {

/// While it lives, what this thread allocates may never be freed. Around single calls that move data: libfabric 1.17's
/// net connects and accepts inside of them, and forgets each connection's entry in the list of its completion queue. A
/// suppression would need the name of the function that makes it, which Debian's library has not. What opens and
/// closes a provider's objects is not exempt.
struct [[maybe_unused]] forgetful_provider {
#ifdef WEFT_LEAK_SANITIZER
  __lsan::ScopedDisabler disabler;
#endif
};

}  // namespace weft::fabric
