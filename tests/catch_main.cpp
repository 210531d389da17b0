// SPDX-License-Identifier: Apache-2.0
// Catch2's main program, compiled once for every test executable; version 3 brings its own.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
