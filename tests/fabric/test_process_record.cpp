// SPDX-License-Identifier: Apache-2.0
// The record survives its journey, and nothing that comes in its place does any harm.
#include <unistd.h>

#include <cstring>
#include <random>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"

using namespace weft::fabric;
using weft_test::ContainsSubstring;

namespace {

process_record example() {
  process_record record = local_record();
  record.control = "10.77.0.1:4321";
  record.ranks = 4;
  record.provider = "net";
  record.switches = "core.leaf0";
  record.interfaces = {{"eth0", "10.77.0.1", 24, true, 25'000}, {"eth1", "fd00:7::1", 64}};
  return record;
}

weft::error decode_fails(const std::vector<std::byte>& bytes) {
  try {
    decode(bytes, 3);
  } catch (const weft::error& failure) {
    return failure;
  }
  FAIL("decode took a record that is none");
  throw 0;
}

}  // namespace

TEST_CASE("a process record comes back as it was written") {
  const process_record record = example();
  REQUIRE(decode(encode(record), 0) == record);
  REQUIRE(record.pid == ::getpid());
  REQUIRE(record.started == process_start_time(::getpid()));
  REQUIRE(record.started != 0);
  REQUIRE(record.incarnation != 0);
  REQUIRE(record.host.shares_pids_with(local_record().host));
  REQUIRE_FALSE(record.host.shares_pids_with(host_identity{}));
}

TEST_CASE("another build is refused by name") {
  process_record record = example();
  ++record.build.wire;
  record.build.version = "0.2.0";
  record.host.name = "b";
  auto bytes = encode(record);
  bytes.resize(140);  // what follows the prefix is the other version's own affair
  const weft::error failure = decode_fails(bytes);
  REQUIRE(failure.code() == weft::errc::incompatible);
  REQUIRE(std::string(failure.what()) ==
          "process 3 on host b runs weft 0.2.0 (wire " + std::to_string(record.build.wire) + "), this one weft " +
              this_build().version + " (wire " + std::to_string(this_build().wire) + ")");
}

TEST_CASE("what is no record of weft is incompatible") {
  auto bytes = encode(example());
  std::memcpy(bytes.data(), "openmpi!", 8);
  const weft::error failure = decode_fails(bytes);
  REQUIRE(failure.code() == weft::errc::incompatible);
  REQUIRE_THAT(failure.what(), ContainsSubstring("process 3 is not weft") && ContainsSubstring("openmpi!"));
}

TEST_CASE("records cut off, too long or impossible break the protocol") {
  const auto bytes = encode(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    REQUIRE(decode_fails({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}).code() ==
            weft::errc::protocol);
  }
  auto longer = bytes;
  longer.push_back({});
  REQUIRE(decode_fails(longer).code() == weft::errc::protocol);
  process_record nobody = example();
  nobody.ranks = 0;
  REQUIRE(decode_fails(encode(nobody)).code() == weft::errc::protocol);
}

TEST_CASE("a record with random bytes is decoded or refused") {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto bytes = encode(example());
  for (int round = 0; round < 20'000; ++round) {
    auto damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    try {
      decode(damaged, 0);
    } catch (const weft::error&) {
    }
  }
}

TEST_CASE("fields too long to travel are refused") {
  process_record record = example();
  record.provider.resize(5000, 'x');
  REQUIRE_THROWS_AS(encode(record), weft::error);
}
