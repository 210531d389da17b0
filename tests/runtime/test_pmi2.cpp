// SPDX-License-Identifier: Apache-2.0
// The same where the launcher speaks PMI-2 only.
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime/pmi_joining.hpp"
#include "seed.hpp"

using namespace weft_test;

TEST_CASE("processes meet by PMI-2 where PMI-1 is refused") {
  const auto seed = static_cast<unsigned>(test_seed());
  INFO("WEFT_TEST_SEED=" << seed);
  for (const int processes : {2, 33}) {
    pmi_server server(processes, {}, 1024, "", pmi_version::two);
    CHECK(join_all_by_pmi(server, processes, [&](weft::joined_job& job) {
            return job.place.processes == processes && all_met(*job.rendezvous) && gathers_whole(*job.rendezvous, seed);
          }) == processes);
    CHECK(server.finalized() == processes);
  }
}

TEST_CASE("what is not there yet after a fence that did not wait is asked for again") {
  std::array<std::atomic<int>, 3> asked{};
  const auto late = [&](int process, const std::string& request, const std::string& answer) {
    const bool get = request.starts_with("cmd=kvs-get");
    return get && asked[static_cast<std::size_t>(process)]++ < 2 ? framed("cmd=kvs-get-response;rc=0;found=FALSE;")
                                                                 : answer;
  };
  pmi_server server(3, late, 1024, "", pmi_version::two);
  CHECK(join_all_by_pmi(server, 3, [&](weft::joined_job& job) { return all_met(*job.rendezvous); }) == 3);
}

TEST_CASE("what a process has printed is there before it has its job aborted") {
  std::array<int, 2> output;
  REQUIRE(::pipe(output.data()) == 0);
  const weft::file_descriptor reads(output[0]), writes(output[1]);
  std::atomic<int> there_at_abort{-1};
  const auto look = [&](int, const std::string& request, const std::string& answer) {
    int unread = 0;
    if (request.starts_with("cmd=abort") && ::ioctl(reads.get(), FIONREAD, &unread) == 0) there_at_abort = unread;
    return answer;
  };
  pmi_server server(2, look, 1024, "", pmi_version::two);
  std::fflush(stdout);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(writes.get(), STDOUT_FILENO);
    weft::join_job(soon(), variables_of(server.started(0)));  // and does not leave it
    std::printf("last words");
    std::exit(3);
  }
  weft::join_job(soon(), variables_of(server.started(1))).rendezvous->leave();
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 3));
  const auto deadline = soon();  // by which the server has read the child's last message
  while (there_at_abort < 0 && weft::store::clock::now() < deadline) std::this_thread::yield();
  CHECK(std::string("last words").size() == static_cast<std::size_t>(there_at_abort));
}

TEST_CASE("a launcher that speaks PMI-2 and not as it should is an error") {
  using weft::errc;
  const auto refused = [](const char* command, const std::string& text, errc expected,
                          std::chrono::milliseconds limit = 60s) {
    return complaint(says(command, text), expected, "", limit, pmi_version::two);
  };
  CHECK_THAT(refused("fullinit", "", errc::no_rendezvous, 100ms), ContainsSubstring("no answer to fullinit"));
  CHECK_THAT(refused("fullinit", "cmd=fullinit-response;rc=0;\n", errc::protocol),
             ContainsSubstring("does not begin with its length"));
  CHECK_THAT(refused("fullinit", "999999cmd=fullinit", errc::protocol), ContainsSubstring("999999cmd"));
  CHECK_THAT(refused("fullinit", framed("cmd=fullinit-response;rc=0;rank=5;"), errc::protocol),
             ContainsSubstring("rank=5"));
  CHECK_THAT(refused("fullinit", framed("cmd=fullinit-response;rc=3;"), errc::protocol),
             ContainsSubstring("was refused"));
  CHECK_THAT(refused("kvs-fence", "", errc::timed_out, 300ms), ContainsSubstring("not every process of the job came"));
  CHECK_THAT(refused("kvs-get", framed("cmd=kvs-get-response;rc=0;found=FALSE;"), errc::timed_out, 300ms),
             ContainsSubstring("not every process of the job came"));
  CHECK_THAT(refused("kvs-get", framed("cmd=kvs-get-response;rc=0;found=TRUE;value=1.QUJ;"), errc::protocol),
             ContainsSubstring("not base64"));
  CHECK_THAT(complaint({}, errc::no_rendezvous, "kvs-put", 60s, pmi_version::two), ContainsSubstring("kvs-put"));
}
