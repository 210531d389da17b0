/* SPDX-License-Identifier: Apache-2.0 */
/* What the shared library shows to programs: the library is compiled with everything else hidden. For C and C++. */
#ifndef WEFT_API_H
#define WEFT_API_H

/** In front of a function of a public header that the library defines, and behind `class` or `struct` where it defines
    members, or where objects are thrown or have virtual functions. */
#define WEFT_API __attribute__((visibility("default")))

#endif
