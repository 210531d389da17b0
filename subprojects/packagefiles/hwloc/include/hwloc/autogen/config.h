/* SPDX-License-Identifier: Apache-2.0 */
/* What hwloc's public headers ask for, on Linux with GCC or Clang. */
#ifndef HWLOC_CONFIG_H
#define HWLOC_CONFIG_H

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define HWLOC_LINUX_SYS 1
#define HWLOC_HAVE_CPU_SET 1
#define HWLOC_HAVE_STDINT_H 1
#define HWLOC_SYM_TRANSFORM 0
#define HWLOC_SYM_PREFIX hwloc_
#define HWLOC_SYM_PREFIX_CAPS HWLOC_

typedef uint64_t hwloc_uint64_t;
#define hwloc_pid_t pid_t
#define hwloc_thread_t pthread_t

#define __hwloc_restrict __restrict
#define __hwloc_inline __inline__
#define __hwloc_attribute_unused __attribute__((__unused__))
#define __hwloc_attribute_malloc __attribute__((__malloc__))
#define __hwloc_attribute_const __attribute__((__const__))
#define __hwloc_attribute_pure __attribute__((__pure__))
#define __hwloc_attribute_deprecated __attribute__((__deprecated__))
#define __hwloc_attribute_may_alias __attribute__((__may_alias__))
#define __hwloc_attribute_warn_unused_result __attribute__((__warn_unused_result__))
#define HWLOC_DECLSPEC

#endif
