// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <weft/fabric/libfabric_transport.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/collecting_receiver.hpp"

using namespace weft::fabric;
using namespace weft_test;

namespace {

std::error_code code_of_failure(const std::string& provider, const std::string& address) {
  try {
    choose_provider(provider, address, unsafe_providers::taken);
  } catch (const weft::error& failure) {
    return failure.code();
  }
  return {};
}

/// Whether it is loaded.
bool has_libfabric() {
  std::ifstream maps("/proc/self/maps");
  const std::string all(std::istreambuf_iterator<char>(maps), {});
  return all.find("libfabric.so") != std::string::npos;
}

bool is_here(const std::string& provider) { return code_of_failure(provider, "") == std::error_code(); }

}  // namespace

TEST_CASE("the default provider is on the loopback interface", "[provider]") {
  const provider_choice choice = choose_provider("", "");
  CHECK(choice.provider == default_provider());
  CHECK(choice.info != nullptr);
  CHECK_FALSE(choice.reason.empty());
  CHECK(choice.warning.empty());
  REQUIRE_FALSE(choice.candidates.empty());
  CHECK(choice.candidates[0].provider == choice.provider);
  CHECK(choice.candidates[0].address == "127.0.0.1");
}

TEST_CASE("every candidate but the chosen one has a reason", "[provider]") {
  for (const std::string& name : known_providers()) {
    if (!is_here(name)) continue;
    CAPTURE(name);
    const provider_choice choice = choose_provider(name, "127.0.0.1", unsafe_providers::taken);
    CHECK(choice.provider == name);
    CHECK(std::count_if(choice.candidates.begin(), choice.candidates.end(),
                        [](const provider_candidate& one) { return one.rejected.empty(); }) == 1);
    CHECK(choice.candidates[0].rejected.empty());
    CHECK(choice.candidates[0].provider == name);
  }
}

TEST_CASE("providers for experiments carry a warning", "[provider]") {
  for (const std::string name : {"udp;ofi_rxd", "sockets"}) {
    if (is_here(name)) CHECK_FALSE(choose_provider(name, "").warning.empty());
  }
}

TEST_CASE("a provider that can do harm is refused unless it is wanted all the same", "[provider]") {
  CHECK_THROWS_WITH(choose_provider("shm", ""),
                    ContainsSubstring("\"shm\" can hang the survivors") && ContainsSubstring("WEFT_UNSAFE_PROVIDER=1"));
  for (const provider_candidate& one : choose_provider("", "").candidates)
    if (one.provider == "shm") CHECK_THAT(one.rejected, ContainsSubstring("can hang the survivors"));
  if (is_here("shm")) CHECK(choose_provider("shm", "", unsafe_providers::taken).provider == "shm");
}

TEST_CASE("a provider that is not here is an error that names those that are", "[provider]") {
  for (const std::string name : {"bogus", "NET", "net;", "ofi_rxm", "psm2", " "}) {
    CAPTURE(name);
    CHECK(code_of_failure(name, "") == weft::errc::no_provider);
    CHECK_THROWS_WITH(choose_provider(name, ""), ContainsSubstring("\"" + name + "\"") &&
                                                     ContainsSubstring(default_provider()) &&
                                                     !ContainsSubstring("shm"));
  }
}

TEST_CASE("an address that this machine has not is an error that names those it has", "[provider]") {
  for (const std::string address : {"192.0.2.1", "2001:db8::1", "localhost", "lo", "127.0.0.1:80", "127.0.0"}) {
    CAPTURE(address);
    CHECK(code_of_failure("", address) == weft::errc::invalid_argument);
    CHECK_THROWS_WITH(choose_provider("", address),
                      ContainsSubstring("\"" + address + "\"") && ContainsSubstring("127.0.0.1"));
  }
}

TEST_CASE("loading libfabric in a process of its own", "[.fresh]") {
  unsetenv("IPATH_NO_BACKTRACE");  // with which libinfinipath would hook none
  constexpr int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE};
  struct sigaction before[std::size(numbers)], after;
  for (std::size_t index = 0; index < std::size(numbers); ++index) sigaction(numbers[index], nullptr, &before[index]);
  CHECK_FALSE(has_libfabric());
  default_provider();
  CHECK(has_libfabric());
  for (std::size_t index = 0; index < std::size(numbers); ++index) {
    CAPTURE(numbers[index]);
    sigaction(numbers[index], nullptr, &after);
    CHECK(after.sa_handler == before[index].sa_handler);
  }
}

TEST_CASE("loading libfabric waits until it is needed and leaves the signal handlers alone", "[provider]") {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "test_transport", "loading libfabric in a process of its own", "-o", "/dev/null", nullptr);
    _exit(125);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("opening and closing endpoints leaves the signal handlers alone", "[provider]") {
  constexpr int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS};
  struct sigaction before[4], after[4];
  struct sigaction ours {};
  ours.sa_handler = [](int) {};
  ours.sa_flags = SA_RESTART;
  struct sigaction replaced;
  sigaction(SIGTERM, &ours, &replaced);
  for (int index = 0; index < 4; ++index) sigaction(numbers[index], nullptr, &before[index]);
  for (const std::string& name : known_providers()) {
    if (!is_here(name)) continue;
    const provider_choice choice = choose_provider(name, "", unsafe_providers::taken);
    for (const bool closed : {false, true}) {
      std::unique_ptr<transport> link = open_libfabric_transport(choice);
      const address own[] = {link->local_address()};
      link->start(own, 1 << 16);
      if (closed) link.reset();
      for (int index = 0; index < 4; ++index) {
        CAPTURE(name, closed, numbers[index]);
        sigaction(numbers[index], nullptr, &after[index]);
        CHECK(after[index].sa_handler == before[index].sa_handler);
        CHECK(after[index].sa_flags == before[index].sa_flags);
      }
    }
  }
  sigaction(SIGTERM, &replaced, nullptr);
}
