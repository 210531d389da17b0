// SPDX-License-Identifier: Apache-2.0
// Which weft a program is compiled against, for the preprocessor (of C, too), and what compilers have to know for it.
#pragma once

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
/// Of 1.2.3 this is 10203.
#define WEFT_VERSION (WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH)

#if defined(__cplusplus) && __cplusplus < 202002L
#error "weft needs C++20: compile with -std=c++20 or later"
#endif
