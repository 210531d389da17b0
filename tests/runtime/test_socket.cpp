// SPDX-License-Identifier: Apache-2.0
// Sockets as values.
#include <unistd.h>

#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

#include "catch.hpp"

using weft_test::ContainsSubstring;

TEST_CASE("descriptors have one owner") {
  const auto listener = weft::listen_on("127.0.0.1");
  const int number = listener.get();
  weft::file_descriptor moved(::dup(number));
  const int copy = moved.get();
  weft::file_descriptor target(std::move(moved));
  CHECK_FALSE(moved);  // NOLINT: what a move leaves is part of the contract
  CHECK(target.get() == copy);
  target = weft::file_descriptor();
  CHECK(::close(copy) == -1);
  CHECK_THAT(weft::local_address(weft::listen_on("::1")), ContainsSubstring("[::1]:"));
  CHECK_THROWS_AS(weft::listen_on("no.such.host"), weft::error);
}
