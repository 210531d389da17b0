// SPDX-License-Identifier: Apache-2.0
// What the environment says about how much is to be tested.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sanitized.hpp"

namespace weft_test {

/// How many times as long as otherwise a job of this build may take to notice something: under a sanitizer, or
/// an emulator, eight processes that compute on two cores keep each of them waiting for seconds.
inline constexpr int slowdown = slowed ? 10 : 1;

/// For `weft run --timeout`: by then a job hangs.
inline const std::string seconds_of_a_job = slowdown == 1 ? "60" : "240";

/// There is time then to see what it is doing.
inline constexpr std::chrono::seconds before_a_job_hangs{slowdown == 1 ? 30 : 180};

/// The number in WEFT_TEST_NAME.
inline int setting(const char* name, int otherwise) {
  const char* const text = std::getenv((std::string("WEFT_TEST_") + name).c_str());
  return text == nullptr ? otherwise : std::atoi(text);
}

/// Ends the whole program as one that could not be tried here; each of these tests runs in a process of its own.
[[noreturn]] inline void skip(const std::string& why) {
  std::printf("skipped: %s\n", why.c_str());
  std::exit(77);
}

/// WEFT_TEST_SEED alone, or `count` seeds from WEFT_TEST_FIRST_SEED on, or else from a new one.
inline std::vector<std::uint64_t> seeds(int count) {
  if (const char* const one = std::getenv("WEFT_TEST_SEED")) return {std::strtoull(one, nullptr, 10)};
  const char* const from = std::getenv("WEFT_TEST_FIRST_SEED");
  const std::uint64_t first = from == nullptr ? std::random_device()() : std::strtoull(from, nullptr, 10);
  std::vector<std::uint64_t> all;
  for (int i = 0; i < count; ++i) all.push_back(first + static_cast<std::uint64_t>(i));
  return all;
}

/// Options of `weft run` that send all messages over this provider; "node": through the memory of the node.
inline std::vector<std::string> road_options(const std::string& provider) {
  if (provider == "node") return {};
  return {"--provider", provider, "-x", "WEFT_UNSAFE_PROVIDER=1", "-x", "WEFT_NODE=off"};
}

/// WEFT_TEST_PROVIDERS, names with a comma between, or `otherwise`; "node" as above.
inline std::vector<std::string> providers_of(const std::string& otherwise) {
  const char* const chosen = std::getenv("WEFT_TEST_PROVIDERS");
  std::istringstream list(chosen == nullptr ? otherwise : chosen);
  std::vector<std::string> all;
  for (std::string name; std::getline(list, name, ',');) all.push_back(name);
  return all;
}

}  // namespace weft_test
