// SPDX-License-Identifier: Apache-2.0
// The strict provider catches what breaks its rules. It stands in libfabric's place here (LD_LIBRARY_PATH).
#include <rdma/fi_tagged.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/ofi/libfabric_endpoint.hpp"

using namespace weft::fabric;

namespace {

/// An endpoint that knows itself, and memory of it.
struct user {
  user() : at(choose_provider("", ""), 4096) {
    const address own[] = {at.local_address()};
    self = at.insert(own).front().payloads;
  }
  fabric_handle<fid_mr> registered(std::uint64_t access) {
    fid_mr* made = nullptr;
    while (fi_mr_reg(at.domain(), memory.data(), memory.size(), access, 0, 1, 0, &made, nullptr) == -FI_EAGAIN)
      continue;
    return fabric_handle<fid_mr>(made);
  }
  void receive(void* from, std::size_t size, void* descriptor) {
    while (fi_trecv(at.payloads(), from, size, descriptor, self, 1, 0, &context) == -FI_EAGAIN) continue;
  }
  /// Until something has ended.
  void poll() {
    fi_cq_data_entry entry;
    while (fi_cq_read(at.completions(), &entry, 1) == -FI_EAGAIN) continue;
  }
  void send(std::size_t size, void* descriptor) {
    // While it connects it says -FI_EAGAIN, and goes on when it is polled.
    fi_cq_data_entry entry;
    while (fi_tsend(at.payloads(), memory.data(), size, descriptor, self, 1, &context) == -FI_EAGAIN)
      fi_cq_read(at.completions(), &entry, 1);
  }

  std::array<std::byte, 1024> memory{};
  fi_context2 context{};
  libfabric_endpoint at;
  fi_addr_t self = 0;
};

/// What a process prints that does this and aborts; empty if it lives. It ends in no other way.
template <class Use>
std::string complaint_of(Use use) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_dump{};
    setrlimit(RLIMIT_CORE, &no_dump);
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    {
      user one;
      use(one);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char part[512];
  for (ssize_t count = 0; (count = read(ends[0], part, sizeof part)) > 0;)
    said.append(part, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  INFO("status " << status << ", " << said);
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  REQUIRE((aborted || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
  return aborted ? said : "";
}

}  // namespace

TEST_CASE("a use within the rules is let pass", "[strict]") {
  CHECK(complaint_of([](user& one) {
          const auto region = one.registered(FI_RECV);
          one.receive(one.memory.data(), 100, fi_mr_desc(region.get()));
          one.at.close();
        }).empty());
}

TEST_CASE("memory that is not registered is caught", "[strict]") {
  CHECK_THAT(complaint_of([](user& one) { one.receive(one.memory.data(), 100, nullptr); }),
             weft_test::ContainsSubstring("FI_MR_LOCAL: memory is posted without a descriptor"));
  CHECK_THAT(complaint_of([](user& one) {
               const auto region = one.registered(FI_RECV);
               one.receive(one.memory.data() + 1000, 100, fi_mr_desc(region.get()));
             }),
             weft_test::ContainsSubstring("that its registration does not hold"));
  CHECK_THAT(complaint_of([](user& one) {
               const auto region = one.registered(FI_SEND);
               one.receive(one.memory.data(), 100, fi_mr_desc(region.get()));
             }),
             weft_test::ContainsSubstring("is not for this direction"));
  CHECK_THAT(complaint_of([](user& one) {
               auto region = one.registered(FI_RECV);
               one.receive(one.memory.data(), 100, fi_mr_desc(region.get()));
               region.reset();
             }),
             weft_test::ContainsSubstring("closed while a transfer uses its memory"));
}

TEST_CASE("a context that is used again too early is caught", "[strict]") {
  CHECK_THAT(complaint_of([](user& one) {
               const auto region = one.registered(FI_RECV);
               one.receive(one.memory.data(), 100, fi_mr_desc(region.get()));
               one.receive(one.memory.data(), 100, fi_mr_desc(region.get()));
             }),
             weft_test::ContainsSubstring("FI_CONTEXT2: a context is posted again"));
}

TEST_CASE("a context that is written to in flight is caught", "[strict]") {
  CHECK_THAT(complaint_of([](user& one) {
               const auto region = one.registered(FI_SEND);
               one.send(100, fi_mr_desc(region.get()));
               one.context.internal[0] = nullptr;
               one.poll();
             }),
             weft_test::ContainsSubstring("FI_CONTEXT2: a context has been written to"));
}

TEST_CASE("memory that is written to while it is sent is caught", "[strict]") {
  CHECK_THAT(complaint_of([](user& one) {
               const auto region = one.registered(FI_SEND);
               one.send(100, fi_mr_desc(region.get()));
               one.memory[0] ^= std::byte{1};
               one.poll();
             }),
             weft_test::ContainsSubstring("send: memory that is sent has been written to"));
}

TEST_CASE("an inject that is too long is caught", "[strict]") {
  CHECK_THAT(complaint_of([](user& one) { fi_inject(one.at.get(), one.memory.data(), 65, one.self); }),
             weft_test::ContainsSubstring("inject_size: 65 bytes"));
}

TEST_CASE("a provider that weft has no notes of is taken by its name, without an interface", "[strict]") {
  const provider_choice choice = choose_provider("strange", "");
  CHECK(choice.provider == "strange");
  CHECK_THAT(choice.warning, weft_test::ContainsSubstring("has not been tried with provider strange"));
  CHECK(choice.candidates.at(0).provider == "strange");
  CHECK(choice.candidates.at(0).address.empty());
  CHECK_FALSE(traits_of("strange").in_order);
  CHECK_NOTHROW(libfabric_endpoint(choice, 4096));
  CHECK_THROWS_AS(choose_provider("stranger", ""), weft::error);
}
