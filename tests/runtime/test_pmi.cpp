// SPDX-License-Identifier: Apache-2.0
// The rendezvous by a launcher's PMI: what processes find of each other, and what they say of a launcher that does
// not do what it should.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <set>

#include "runtime/pmi_joining.hpp"
#include "seed.hpp"

using namespace weft_test;

TEST_CASE("processes meet by PMI") {
  const auto seed = static_cast<unsigned>(test_seed());
  INFO("WEFT_TEST_SEED=" << seed);
  for (const int processes : {2, 3, 32, 33, 50}) {
    pmi_server server(processes);
    CHECK(join_all_by_pmi(server, processes, [&](weft::joined_job& job) {
            return job.place.processes == processes && job.place.process == job.rendezvous->process() &&
                   all_met(*job.rendezvous) && gathers_whole(*job.rendezvous, seed);
          }) == processes);
    CHECK(server.finalized() == processes);
    CHECK(server.longest_line() <= 1023);  // what Slurm takes
  }
}

TEST_CASE("a launcher's limit on values is kept") {
  for (const std::size_t limit : {64u, 100u, 257u}) {
    pmi_server server(5, {}, limit);
    CHECK(join_all_by_pmi(server, 5, [&](weft::joined_job& job) { return all_met(*job.rendezvous); }) == 5);
  }
}

TEST_CASE("processes agree on what identifies their job, and jobs differ") {
  std::set<std::uint64_t> numbers;
  std::set<std::string> secrets;
  std::mutex mutex;
  for (int job = 0; job < 3; ++job) {
    pmi_server server(3);
    join_all_by_pmi(server, 3, [&](weft::joined_job& joined) {
      const std::lock_guard lock(mutex);
      numbers.insert(joined.number);
      secrets.insert(joined.secret);
      return true;
    });
  }
  CHECK(numbers.size() == 3);
  CHECK(secrets.size() == 3);
  CHECK(secrets.begin()->size() == 64);
}

TEST_CASE("1,024 processes exchange addresses without asking for each of them") {
  constexpr int processes = 1024;
  pmi_server server(processes);
  CHECK(join_all_by_pmi(server, processes, [&](weft::joined_job& job) {
          const auto record = [](int process) { return bytes(250, static_cast<std::byte>(process)); };
          const auto all = job.rendezvous->gather("process", record(job.rendezvous->process()), soon());
          for (int p = 0; p < processes; ++p)
            if (all[static_cast<std::size_t>(p)] != record(p)) return false;
          return true;
        }) == processes);
  std::printf("requests of a process: at most %d\n", server.most_requests());
  CHECK(server.most_requests() < processes);
}

TEST_CASE("what nobody has put before a fence is not waited for") {
  pmi_server server(2);
  CHECK(join_all_by_pmi(server, 2, [](weft::joined_job& job) {
          weft::store& store = *job.rendezvous;
          const std::string late = error_of([&] { store.get("k", soon()); }, weft::errc::timed_out);
          store.fence(soon());
          store.put("k", from_text(std::to_string(store.process())));
          store.fence(soon());
          return late.find("\"k\"") != std::string::npos && to_text(store.get("k", soon())) == "1";
        }) == 2);
}

TEST_CASE("processes that call different things are told so") {
  pmi_server server(2);
  std::atomic<int> told{0};
  join_all_by_pmi(server, 2, [&](weft::joined_job& job) {
    weft::store& store = *job.rendezvous;
    const std::string text =
        error_of([&] { store.process() == 0 ? store.fence(soon()) : (void)store.gather("g", {}, soon()); },
                 weft::errc::protocol);
    if (text.find("gather of \"g\"") != std::string::npos && text.find("fence") != std::string::npos) ++told;
    return true;
  });
  CHECK(told == 2);
}

TEST_CASE("a launcher that is silent is an error before the deadline has long passed") {
  CHECK_THAT(complaint(says("init", ""), weft::errc::no_rendezvous, "", 100ms), ContainsSubstring("no answer to init"));
  CHECK_THAT(complaint(says("get_maxes", ""), weft::errc::no_rendezvous, "", 100ms), ContainsSubstring("get_maxes"));
  CHECK_THAT(complaint(says("barrier_in", ""), weft::errc::timed_out, "", 300ms),
             ContainsSubstring("not every process of the job came"));
  CHECK_THAT(complaint(says("put ", "cmd=put_result rc=0"), weft::errc::timed_out, "", 300ms),
             ContainsSubstring("no answer to put"));
}

TEST_CASE("a launcher that goes away is an error") {
  for (const char* request : {"init", "get_my_kvsname", "put", "barrier_in", "get"})
    CHECK_THAT(complaint({}, weft::errc::no_rendezvous, request),
               ContainsSubstring(std::string("answer to ") + request));
}

TEST_CASE("a launcher that answers nonsense is an error that shows it") {
  using weft::errc;
  CHECK_THAT(complaint(says("init", "HTTP/1.1 400 Bad Request\n"), errc::protocol), ContainsSubstring("HTTP/1.1 400"));
  CHECK_THAT(complaint(says("init", "\x1b[2J\n"), errc::protocol), ContainsSubstring("\"?[2J\""));
  CHECK_THAT(complaint(says("init", "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n"), errc::incompatible),
             ContainsSubstring("pmi_version=2"));
  CHECK_THAT(complaint(says("init", std::string(100'000, 'x')), errc::protocol), ContainsSubstring("has no end"));
  CHECK_THAT(complaint(says("get_maxes", "cmd=maxes keylen_max=64\n"), errc::protocol),
             ContainsSubstring("vallen_max"));
  CHECK_THAT(complaint(says("get_maxes", "cmd=maxes keylen_max=64 vallen_max=-1\n"), errc::protocol),
             ContainsSubstring("vallen_max"));
  CHECK_THAT(complaint(says("get_maxes", "cmd=maxes keylen_max=64 vallen_max=8\n"), errc::incompatible),
             ContainsSubstring("vallen_max=8"));
  CHECK_THAT(complaint(says("get_my_kvsname", "cmd=my_kvsname\n"), errc::protocol), ContainsSubstring("no name"));
  const std::string long_name = "cmd=my_kvsname kvsname=" + std::string(950, 'n') + "\n";
  CHECK_THAT(complaint(says("get_my_kvsname", long_name), errc::incompatible), ContainsSubstring("no room for values"));
  CHECK_THAT(complaint(says("put ", "cmd=put_result rc=-1 msg=no_space\n"), errc::protocol),
             ContainsSubstring("no_space"));
  CHECK_THAT(complaint(says("put ", "cmd=unknown\n"), errc::protocol), ContainsSubstring("put was answered by"));
  CHECK_THAT(complaint(says("get ", "cmd=get_result rc=0 msg=success\n"), errc::protocol),
             ContainsSubstring("without a value"));
}

TEST_CASE("a launcher that knows which processes share a node is asked, not they") {
  const auto maps = [](const std::string& mapping) {
    return [=](int, const std::string& request, const std::string& answer) {
      return request.ends_with("key=PMI_process_mapping") ? "cmd=get_result rc=0 msg=success value=" + mapping + "\n"
                                                          : answer;
    };
  };
  const auto places = [&](const std::string& mapping) {
    constexpr int processes = 7;
    std::array<std::string, processes> found;
    pmi_server server(processes, maps(mapping));
    join_all_by_pmi(server, processes, [&](weft::joined_job& job) {
      found[static_cast<std::size_t>(job.rendezvous->process())] = to_string(job.place);
      return true;
    });
    return found;
  };
  CHECK(places("(vector,(0,3,2),(3,1,1))") ==
        std::array<std::string, 7>{"0 of 2 on node 0 of 4", "1 of 2 on node 0 of 4", "0 of 2 on node 1 of 4",
                                   "1 of 2 on node 1 of 4", "0 of 2 on node 2 of 4", "1 of 2 on node 2 of 4",
                                   "0 of 1 on node 3 of 4"});
  CHECK(places("(vector,(4,2,1))") == std::array<std::string, 7>{"0 of 4 on node 0 of 2", "0 of 3 on node 1 of 2",
                                                                 "1 of 4 on node 0 of 2", "1 of 3 on node 1 of 2",
                                                                 "2 of 4 on node 0 of 2", "2 of 3 on node 1 of 2",
                                                                 "3 of 4 on node 0 of 2"});
  for (const char* cut :
       {"(vector,(0,1,2)", "(vector,(0,1", "(vector", "(vector)", "(vector,(0,1,0))", "(vector,(2147483647,2,3))"})
    CHECK_THAT(complaint(maps(cut), weft::errc::protocol), ContainsSubstring(cut) && ContainsSubstring("was cut"));
}

TEST_CASE("values that were cut or changed are errors") {
  using weft::errc;
  const auto answered = [](const std::string& value) {
    return complaint(says("get ", "cmd=get_result rc=0 msg=success value=" + value + "\n"), errc::protocol);
  };
  for (const char* value : {"", "1", "0.QUJD", "-1.QUJD", "99999999999999999999.QUJD", "9999999999.QUJD", "x.QUJD"})
    CHECK_THAT(answered(value), ContainsSubstring("is not what was put there"));
  for (const char* value : {"1.QUJ", "1.QU%D", "1.Q"}) CHECK_THAT(answered(value), ContainsSubstring("not base64"));
  for (const char* value : {"1.", "1.QUJD", "1.QUJDQUJDQUJDQUJD", "1.//////////8="})
    CHECK_THAT(answered(value), ContainsSubstring("a value was cut"));
  // At any place, whole groups of base64 too.
  for (const std::size_t missing : {1u, 2u, 4u, 8u, 40u}) {
    const auto cut = [=](int, const std::string& request, const std::string& answer) {
      return request.starts_with("cmd=get ") ? answer.substr(0, answer.size() - 1 - missing) + "\n" : answer;
    };
    const std::string text = complaint(cut, errc::protocol);
    CHECK_THAT(text, ContainsSubstring("was cut"));
  }
}

TEST_CASE("what is no connection to a launcher is not taken for one") {
  const auto refused = [](int descriptor) {
    return error_of([&] { weft::join_job(soon(), variables_of({descriptor, 0, 2})); }, weft::errc::no_rendezvous);
  };
  CHECK_THAT(refused(999'999), ContainsSubstring("no open socket: Bad file descriptor (errno 9)"));
  const weft::file_descriptor file(::open("/dev/null", O_RDWR));
  CHECK_THAT(refused(file.get()), ContainsSubstring("no open socket") && ContainsSubstring("errno 88"));
}
