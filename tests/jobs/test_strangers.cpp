// SPDX-License-Identifier: Apache-2.0
// A host full of strangers, who send garbage to whatever the processes of a job listen at while it runs, and while
// another one starts. WEFT_TEST_STRANGERS says how many, WEFT_TEST_SEED what they send.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/socket.hpp>

#include "board.hpp"
#include "catch.hpp"
#include "seed.hpp"
#include "setting.hpp"
#include "stacks.hpp"
#include "tools/launcher_under_test.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

std::filesystem::path descriptors_of(pid_t process) {
  return std::filesystem::path("/proc") / std::to_string(process) / "fd";
}

std::ptrdiff_t count_descriptors(pid_t process) {
  std::error_code gone;
  return std::distance(std::filesystem::directory_iterator(descriptors_of(process), gone), {});
}

/// Ports at which anybody listens, by the inode of the socket.
std::map<std::string, in_port_t> listeners() {
  std::map<std::string, in_port_t> found;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
    if (state != "0A") continue;  // listening
    found[inode] = static_cast<in_port_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16));
  }
  return found;
}

/// Those of the launcher and its processes.
std::vector<in_port_t> ports_of(pid_t launcher) {
  const auto all = listeners();
  std::vector<pid_t> processes = processes_below(launcher);
  processes.push_back(launcher);
  std::set<in_port_t> ports;
  for (const pid_t each : processes) {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(descriptors_of(each), gone)) {
      const std::string what = std::filesystem::read_symlink(entry.path(), gone);
      if (!what.starts_with("socket:[")) continue;
      const auto found = all.find(what.substr(8, what.size() - 9));
      if (found != all.end()) ports.insert(found->second);
    }
  }
  return {ports.begin(), ports.end()};
}

class crowd {
 public:
  explicit crowd(std::uint64_t seed) : draw_(seed) {}

  /// One more of them says something to this port; some wait for an answer then, others are gone at once.
  void visit(in_port_t port) {
    weft::file_descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ++refused_;
      return;
    }
    ++visits_;
    const std::string text = garbage();
    ::send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (draw_() % 16 == 0) {
      waiting_[visits_ % waiting_.size()] = std::move(socket);
    } else if (draw_() % 2 == 0) {  // by a reset
      const linger none{1, 0};
      ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
  }
  void go() { waiting_ = std::vector<weft::file_descriptor>(waiting_.size()); }

  std::uint64_t visits() const { return visits_; }
  std::uint64_t refused() const { return refused_; }

 private:
  std::string garbage() {
    static const std::vector<std::string> beginnings{"", "weft-ctl", "weft-store", "weft-agent", "GET / HTTP/1.1\r\n"};
    std::string text = beginnings[draw_() % beginnings.size()];
    const std::size_t length = draw_() % 200;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>(draw_());
    return text;
  }

  std::mt19937_64 draw_;
  std::uint64_t visits_ = 0, refused_ = 0;
  std::vector<weft::file_descriptor> waiting_ = std::vector<weft::file_descriptor>(100);
};

std::vector<std::string> beset_job(const board& shared) {
  return {"run",       "-n",   "2",       "--oversubscribe", "-x",         "WEFT_NODE=on",
          "--timeout", "3000", "PROGRAM", "beset",           shared.path()};
}

template <class Condition>
bool comes(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
  return condition();
}

double rounds_a_second(const board& shared, const std::function<void()>& meanwhile) {
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t first = shared[0].round;
  meanwhile();
  return static_cast<double>(shared[0].round - first) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("strangers neither end a job nor keep one from starting", "[strangers]") {
  const auto wanted = static_cast<std::uint64_t>(setting("STRANGERS", 20'000));
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  const board shared, joining;
  launcher job(beset_job(shared));
  REQUIRE(comes([&] { return shared[0].round > 100 && shared[1].round > 100; }));
  const std::vector<pid_t> processes{job.pid(), static_cast<pid_t>(shared[0].pid), static_cast<pid_t>(shared[1].pid)};
  std::vector<std::ptrdiff_t> before;
  for (const pid_t each : processes) before.push_back(count_descriptors(each));

  const double quiet = rounds_a_second(shared, [] { std::this_thread::sleep_for(1s); });
  crowd strangers(seed);
  std::optional<launcher> second;
  const double beset = rounds_a_second(shared, [&] {
    std::vector<in_port_t> ports;
    while (strangers.visits() < wanted && strangers.refused() < wanted) {
      if (strangers.visits() > wanted / 3 && !second) second.emplace(beset_job(joining));
      ports = ports_of(job.pid());
      if (second)
        for (const in_port_t each : ports_of(second->pid())) ports.push_back(each);
      for (std::size_t i = 0; i < 100 * ports.size(); ++i) strangers.visit(ports[i % ports.size()]);
    }
  });
  REQUIRE(comes([&] { return joining[0].round > 100 && joining[1].round > 100; }));
  std::printf("%llu strangers, %llu refused: %.0f sums a second among them, %.0f before\n",
              static_cast<unsigned long long>(strangers.visits()), static_cast<unsigned long long>(strangers.refused()),
              beset, quiet);
  strangers.go();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    CAPTURE(i);
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (count_descriptors(processes[i]) > before[i] && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(20ms);
    CHECK(count_descriptors(processes[i]) <= before[i]);
  }
  for (const board* each : {&shared, &joining}) (*each)[0].kind = 1;
  for (launcher* each : {&job, &*second}) {
    const outcome ended = each->wait();
    INFO(ended.error);
    CHECK(ended.status == 0);
  }
  for (const board* each : {&shared, &joining})
    for (const int rank : {0, 1}) CHECK((*each)[rank].what == verdict::done);
  CHECK(left_behind().empty());
}
