// SPDX-License-Identifier: Apache-2.0
// Real processes, killed and stopped: how soon do all the others know?
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <thread>
#include <weft/fabric/monitor.hpp>

#include "catch.hpp"
#include "monitor_job.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "thorough.hpp"

using namespace std::chrono_literals;
using weft::file_descriptor;
using weft::fabric::monitor;
using weft::fabric::process_record;

namespace {

using clock_type = std::chrono::steady_clock;

struct report {
  int by, process;
  char kind;  // 'r' a record follows, 'l' lost, 'L' left, 'n' a note
  clock_type::time_point when;
  std::uint32_t size;
  char text[2000];
};

/// Where processes are: on one host, there in pid namespaces of their own (so none can look at another), two on each,
/// or each on its own.
enum class hosts { one, veiled, pairs, many };

/// A process of a job, forked from the test: says its record, takes everyone's, and reports what its monitor reports.
class child {
 public:
  child(int number, int processes, weft::fabric::monitor_options options, hosts on) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    channel_ = file_descriptor(ends[process_ == 0 ? 1 : 0]);
    ::close(ends[process_ == 0 ? 0 : 1]);
    if (process_ == 0) live(number, processes, options, on);
  }
  child(child&& other) noexcept : process_(std::exchange(other.process_, 0)), channel_(std::move(other.channel_)) {}
  ~child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  pid_t process() const { return process_; }
  const file_descriptor& channel() const { return channel_; }

  void say(const std::vector<std::byte>& bytes) const {
    REQUIRE(::send(channel_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  void command(char what) const { ::send(channel_.get(), &what, 1, MSG_NOSIGNAL); }

  /// The next report, if one comes in time.
  std::unique_ptr<report> next(std::chrono::milliseconds most = 20s) const {
    auto result = std::make_unique<report>();
    if (!weft::wait_for(channel_, POLLIN, clock_type::now() + most)) return nullptr;
    return ::recv(channel_.get(), result.get(), sizeof *result, 0) == sizeof *result ? std::move(result) : nullptr;
  }

 private:
  void tell(int by, int about, char kind, std::span<const std::byte> bytes) const {
    report one{by, about, kind, clock_type::now(), static_cast<std::uint32_t>(bytes.size()), {}};
    std::copy_n(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), sizeof one.text), one.text);
    ::send(channel_.get(), &one, sizeof one, MSG_NOSIGNAL);
  }

  [[noreturn]] void live(int number, int processes, const weft::fabric::monitor_options& options, hosts on) const {
    monitor watch(options);
    process_record own = weft::fabric::local_record();
    own.control = watch.control_address();
    if (on == hosts::many) own.host.node = "node " + std::to_string(number);
    if (on == hosts::pairs) own.host.node = "node " + std::to_string(number / 2);
    if (on == hosts::veiled) own.host.pid_namespace += static_cast<std::uint64_t>(number);
    tell(number, number, 'r', encode(own));
    std::vector<process_record> all;
    std::vector<std::byte> buffer(4096);
    for (int i = 0; i < processes; ++i) {
      const auto size = ::recv(channel_.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) ::_exit(1);
      all.push_back(weft::fabric::decode(std::span(buffer).first(static_cast<std::size_t>(size)), i));
    }
    watch.start(
        number, all, 7, weft_test::bytes_of(weft_test::secret_of_the_job),
        {.lost = [&](int process, const std::string& why) { tell(number, process, 'l', weft_test::bytes_of(why)); },
         .left = [&](int process) { tell(number, process, 'L', {}); },
         .note = [&](int origin, std::span<const std::byte> note) { tell(number, origin, 'n', note); }});
    for (char what; ::recv(channel_.get(), &what, 1, 0) == 1;) {
      if (what == 'n') watch.flood({});
      if (what == 'l') {
        watch.leave();
        ::_exit(0);
      }
      if (what == 'f' && ::fork() == 0) {  // holds on to the sockets of a parent that dies
        ::close(channel_.get());
        std::this_thread::sleep_for(2s);
        ::_exit(0);
      }
    }
    ::_exit(0);
  }

  pid_t process_ = 0;
  file_descriptor channel_;
};

/// Children that know each other and are all connected.
std::vector<child> start_job(int processes, const weft::fabric::monitor_options& options = {}, hosts on = hosts::one) {
  std::vector<child> job;
  job.reserve(static_cast<std::size_t>(processes));
  for (int i = 0; i < processes; ++i) job.emplace_back(i, processes, options, on);
  std::vector<std::vector<std::byte>> records;
  for (const child& one : job) {
    const auto hello = one.next();
    REQUIRE(hello);
    const auto bytes = std::as_bytes(std::span(hello->text)).first(hello->size);
    records.emplace_back(bytes.begin(), bytes.end());
  }
  for (const child& one : job)
    for (const auto& record : records) one.say(record);
  for (const child& one : job) one.command('n');
  for (const child& one : job)
    for (int i = 1; i < processes; ++i) {
      const auto note = one.next();
      REQUIRE(note);
      REQUIRE(note->kind == 'n');
    }
  return job;
}

/// Process `held` is not heard for `time`, and nobody says anything; then it goes on, and all are connected still.
template <class LetGo>
void expect_no_loss(const std::vector<child>& job, std::size_t held, std::chrono::milliseconds time, LetGo let_go) {
  const auto expect_silence = [&](std::chrono::milliseconds most) {
    std::ostringstream all;
    for (const child& one : job)
      while (const auto said = one.next(all.str().empty() ? most : 500ms))
        all << "process " << said->by << " said: " << said->kind << " " << said->text << "\n";
    if (!all.str().empty()) FAIL(all.str());
  };
  std::this_thread::sleep_for(time);
  expect_silence(0ms);
  let_go();
  expect_silence(200ms);
  job[held].command('n');
  for (std::size_t i = 0; i < job.size(); ++i) {
    if (i == held) continue;
    const auto note = job[i].next();
    REQUIRE(note);
    CHECK(note->kind == 'n');
    CHECK(note->process == static_cast<int>(held));
  }
}

double milliseconds(clock_type::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

TEST_CASE("all know of a process killed by SIGKILL within milliseconds") {
  const int processes = GENERATE(2, 8, 33);
  std::vector<double> times;
  for (int round = 0; round < 40 / processes + 2; ++round) {
    auto job = start_job(processes);
    const std::size_t victim = static_cast<std::size_t>(round) % job.size();
    const auto begin = clock_type::now();
    ::kill(job[victim].process(), SIGKILL);
    double slowest = 0;
    for (std::size_t i = 0; i < job.size(); ++i) {
      if (i == victim) continue;
      const auto lost = job[i].next();
      REQUIRE(lost);
      REQUIRE(lost->kind == 'l');
      REQUIRE(lost->process == static_cast<int>(victim));
      slowest = std::max(slowest, milliseconds(lost->when - begin));
    }
    times.push_back(slowest);
  }
  std::ranges::sort(times);
  std::printf("%d processes: all know of a SIGKILL within %.2f ms (median), %.2f ms (worst of %zu)\n", processes,
              times[times.size() / 2], times.back(), times.size());
  CHECK(times.back() < 1000);
}

TEST_CASE("several processes killed at once are all known") {
  auto job = start_job(16);
  for (std::size_t i = 0; i < 16; ++i)
    if (i % 4 != 0) ::kill(job[i].process(), SIGKILL);
  for (std::size_t i = 0; i < 16; i += 4) {
    std::set<int> lost;
    while (lost.size() < 12) {
      const auto report = job[i].next();
      REQUIRE(report);
      REQUIRE(report->kind == 'l');
      REQUIRE(report->process % 4 != 0);
      REQUIRE(lost.insert(report->process).second);
    }
  }
}

TEST_CASE("a killed process whose child holds its sockets is noticed by its pidfd") {
  if (weft_test::emulated) return;  // by what tells a process another time of its own start than it tells others
  auto job = start_job(3);
  job[1].command('f');
  std::this_thread::sleep_for(100ms);
  ::kill(job[1].process(), SIGKILL);
  for (const std::size_t i : {0, 2}) {
    const auto lost = job[i].next(1500ms);
    REQUIRE(lost);
    CHECK(lost->process == 1);
    CHECK(std::string(lost->text).find("its process ended") != std::string::npos);
  }
}

TEST_CASE("a process that leaves and ends is not lost") {
  auto job = start_job(9);
  job[4].command('l');
  for (std::size_t i = 0; i < 9; ++i) {
    if (i == 4) continue;
    const auto left = job[i].next();
    REQUIRE(left);
    CHECK(left->kind == 'L');
    CHECK(left->process == 4);
  }
  for (std::size_t i = 0; i < 9; ++i)
    if (i != 4) CHECK_FALSE(job[i].next(20ms));
}

TEST_CASE("a process that is stopped on its host is not lost while it is, but when it is killed") {
  if (weft_test::emulated) return;  // as above
  auto job = start_job(5, {.peer_timeout = 500ms});
  ::kill(job[2].process(), SIGSTOP);
  expect_no_loss(job, 2, 2500ms, [&] { ::kill(job[2].process(), SIGCONT); });
  ::kill(job[2].process(), SIGSTOP);
  std::this_thread::sleep_for(1000ms);
  const auto begin = clock_type::now();
  ::kill(job[2].process(), SIGKILL);
  for (const std::size_t i : {0, 1, 3, 4}) {
    const auto lost = job[i].next();
    REQUIRE(lost);
    CHECK(lost->kind == 'l');
    CHECK(lost->process == 2);
    CHECK(milliseconds(lost->when - begin) < 500);
  }
}

TEST_CASE("a process that a debugger has is not lost") {
  if (weft_test::emulated) return;  // as above
  auto job = start_job(3, {.peer_timeout = 500ms});
  if (::ptrace(PTRACE_SEIZE, job[0].process(), nullptr, nullptr) != 0) {
    WARN("ptrace: " << std::strerror(errno));
    return;
  }
  REQUIRE(::ptrace(PTRACE_INTERRUPT, job[0].process(), nullptr, nullptr) == 0);
  expect_no_loss(job, 0, 2500ms, [&] {
    REQUIRE(::waitpid(job[0].process(), nullptr, 0) == job[0].process());
    REQUIRE(::ptrace(PTRACE_DETACH, job[0].process(), nullptr, nullptr) == 0);
  });
}

TEST_CASE("a process of another host that is stopped is not lost where another one there says so") {
  if (weft_test::emulated) return;  // as above
  std::mt19937_64 random(weft_test::test_seed());
  const auto some = weft_test::drawn(std::vector<std::size_t>{0, 3, 6}, 1, random);
  const std::size_t stopped = GENERATE_COPY(from_range(some));
  CAPTURE(stopped);
  auto job = start_job(8, {.peer_timeout = 2000ms}, hosts::pairs);
  ::kill(job[stopped].process(), SIGSTOP);
  expect_no_loss(job, stopped, 6000ms, [&] { ::kill(job[stopped].process(), SIGCONT); });
}

TEST_CASE(
    "who is held is not lost where another one of its host is late to say so, and where others are lost meanwhile") {
  if (weft_test::emulated) return;  // as above
  const std::size_t held = 6, sibling = 7;
  auto job = start_job(12, {.peer_timeout = 2000ms}, hosts::pairs);
  ::kill(job[held].process(), SIGSTOP);
  std::this_thread::sleep_for(600ms);  // one question is answered
  ::kill(job[sibling].process(), SIGSTOP);
  std::this_thread::sleep_for(1400ms);  // the held one is silent for longer than those of other hosts wait
  ::kill(job[sibling].process(), SIGCONT);
  for (const std::size_t i : {2, 3}) ::kill(job[i].process(), SIGSTOP);
  for (const std::size_t i : {0, 1, 4, 5, 7, 8, 9, 10, 11})
    for (int n = 0; n < 2; ++n) {
      const auto lost = job[i].next();
      REQUIRE(lost);
      INFO(lost->text);
      CHECK(lost->kind == 'l');
      CHECK((lost->process == 2 || lost->process == 3));
    }
  ::kill(job[held].process(), SIGCONT);
  for (int n = 0; n < 2; ++n) {
    const auto lost = job[held].next();
    REQUIRE(lost);
    INFO(lost->text);
    CHECK((lost->process == 2 || lost->process == 3));
  }
  CHECK_FALSE(job[held].next(200ms));
  CHECK_FALSE(job[0].next(0ms));
}

TEST_CASE("a whole host that is stopped is lost: nobody answers for it") {
  auto job = start_job(6, {.peer_timeout = 1000ms}, hosts::pairs);
  for (const std::size_t i : {2, 3}) ::kill(job[i].process(), SIGSTOP);
  for (const std::size_t i : {0, 1, 4, 5})
    for (int n = 0; n < 2; ++n) {
      const auto lost = job[i].next();
      REQUIRE(lost);
      INFO(lost->text);
      CHECK(lost->kind == 'l');
      CHECK((lost->process == 2 || lost->process == 3));
    }
}

TEST_CASE("a silent process that is not known to be held is lost after the timeout, and learns that it was given up") {
  constexpr auto timeout = 1500ms;
  auto job = start_job(5, {.peer_timeout = timeout}, hosts::veiled);
  const auto begin = clock_type::now();
  ::kill(job[2].process(), SIGSTOP);
  for (const std::size_t i : {0, 1, 3, 4}) {
    const auto lost = job[i].next();
    REQUIRE(lost);
    CHECK(lost->kind == 'l');
    CHECK(lost->process == 2);
    // It may be stopped with one of its connections still in the making.
    CHECK_THAT(std::string(lost->text),
               weft_test::ContainsSubstring("silent for 1500 ms") || weft_test::ContainsSubstring("does not answer"));
    CHECK(milliseconds(lost->when - begin) > 1000);
    CHECK(milliseconds(lost->when - begin) < 10'000);
  }
  ::kill(job[2].process(), SIGCONT);
  const auto own = job[2].next();
  REQUIRE(own);
  INFO(own->text);
  CHECK(own->process == 2);
  CHECK_FALSE(job[2].next(50ms));
}

TEST_CASE("of two processes of one host that which is not silent goes on") {
  const std::size_t stopped = GENERATE(0, 1);
  auto job = start_job(2, {.peer_timeout = 1000ms}, hosts::veiled);
  ::kill(job[stopped].process(), SIGSTOP);
  const auto lost = job[1 - stopped].next();
  REQUIRE(lost);
  CHECK(lost->process == static_cast<int>(stopped));
  ::kill(job[stopped].process(), SIGCONT);
  const auto own = job[stopped].next();
  REQUIRE(own);
  CHECK(own->process == static_cast<int>(stopped));
}

TEST_CASE("a process of another host that is stopped is lost by a verdict, and learns that it was given up") {
  const std::size_t stopped = GENERATE(0, 2);
  auto job = start_job(3, {.peer_timeout = 1500ms}, hosts::many);
  ::kill(job[stopped].process(), SIGSTOP);
  for (std::size_t i = 0; i < 3; ++i) {
    if (i == stopped) continue;
    const auto lost = job[i].next();
    REQUIRE(lost);
    INFO(lost->text);
    CHECK(lost->process == static_cast<int>(stopped));
    CHECK(std::string(lost->text).find("have agreed on that") != std::string::npos);
  }
  ::kill(job[stopped].process(), SIGCONT);
  const auto own = job[stopped].next();
  REQUIRE(own);
  INFO(own->text);
  CHECK(own->process == static_cast<int>(stopped));
  for (const child& one : job) CHECK_FALSE(one.next(50ms));
}

TEST_CASE("a process of another host that is stopped for less than the timeout is not lost") {
  auto job = start_job(3, {.peer_timeout = 2000ms}, hosts::many);
  ::kill(job[1].process(), SIGSTOP);
  std::this_thread::sleep_for(1500ms);
  ::kill(job[1].process(), SIGCONT);
  for (const child& one : job) CHECK_FALSE(one.next(1000ms));
}

TEST_CASE("a process killed on another host is known at once") {
  auto job = start_job(3, {}, hosts::many);
  const auto begin = clock_type::now();
  ::kill(job[0].process(), SIGKILL);
  for (const std::size_t i : {1, 2}) {
    const auto lost = job[i].next();
    REQUIRE(lost);
    CHECK(lost->process == 0);
    CHECK(milliseconds(lost->when - begin) < 500);
  }
}

TEST_CASE("processes that were all stopped for longer than the timeout lose nobody") {
  auto job = start_job(3, {.peer_timeout = 1000ms});
  for (const child& one : job) ::kill(one.process(), SIGSTOP);
  std::this_thread::sleep_for(1500ms);
  for (const child& one : job) ::kill(one.process(), SIGCONT);
  for (const child& one : job) CHECK_FALSE(one.next(400ms));
}
