// SPDX-License-Identifier: Apache-2.0
// What the tests of `weft run` start as a rank. Its arguments are commands, carried out one after another:
//   only RANK COMMAND...   stop here unless this is process RANK
//   say TEXT, complain TEXT, part TEXT (no newline), flood COUNT LETTER
//   sleep MILLISECONDS, exit STATUS, signal NUMBER, ignore NUMBER, block NUMBER, await NUMBER (of a blocked one), fork
//   (a child that sleeps), escape (one in a session of its own), echo (standard input), variable NAME, mask, region (a
//   file as libfabric's shm makes it), join, lost PROCESS, fill MEBIBYTES (of memory, so that a core takes long),
//   await-dump (of a core, by a process of this job)
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/launch.hpp>

namespace {

using namespace std::chrono_literals;

std::unique_ptr<weft::store> job;

void fork_sleeper(bool escape) {
  if (::fork() != 0) return;
  if (escape) ::setsid();
  for (const int number : {SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  std::this_thread::sleep_for(60s);
  std::_Exit(0);
}

void flood(int count, char letter) {
  const std::string line(200, letter);
  for (int i = 0; i < count; ++i) std::printf("%s\n", line.c_str());
}

void echo() {
  int letter;
  while ((letter = std::getchar()) != EOF) std::putchar(letter);
}

void print_mask() {
  cpu_set_t mask;
  ::sched_getaffinity(0, sizeof mask, &mask);
  std::printf("cpus %d\n", CPU_COUNT(&mask));
}

void make_region() {
  const std::string name = "/dev/shm/" + std::to_string(::getpid()) + ":" + std::to_string(::getuid()) + ":0";
  std::ofstream(name) << "region";
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
}

/// Whether a process with the same parent dumps core.
bool sibling_dumps() {
  const std::string parent = std::to_string(::getppid());
  std::ifstream children("/proc/" + parent + "/task/" + parent + "/children");
  for (std::string pid; children >> pid;) {
    std::ifstream lines("/proc/" + pid + "/status");
    for (std::string line; std::getline(lines, line);)
      if (line == "CoreDumping:\t1") return true;
  }
  return false;
}

/// Carries out the command at argv[0] and returns how many arguments it took.
int obey(char** argv) {
  const std::string command = argv[0];
  const auto number = [&] { return std::atoi(argv[1]); };
  if (command == "only") return std::strcmp(std::getenv("WEFT_PROCESS"), argv[1]) == 0 ? 2 : -1;
  if (command == "fork" || command == "escape") return fork_sleeper(command == "escape"), 1;
  if (command == "echo") return echo(), 1;
  if (command == "mask") return print_mask(), 1;
  if (command == "region") return make_region(), 1;
  if (command == "fill") {
    static std::vector<char> memory;
    return memory.assign(static_cast<std::size_t>(number()) << 20, 'x'), 2;
  }
  if (command == "await-dump") {
    while (!sibling_dumps()) std::this_thread::sleep_for(1ms);
    return 1;
  }
  if (command == "join") {
    job = weft::join_job(weft::store::clock::now() + 30s).rendezvous;
    job->fence(weft::store::clock::now() + 30s);
    return 1;
  }
  if (command == "lost") {
    job->get(std::string("lost/") + argv[1], weft::store::clock::now() + 30s);
    std::printf("process %s is lost\n", argv[1]);
    return 2;
  }
  if (command == "say") return std::printf("%s\n", argv[1]), 2;
  if (command == "part") return std::printf("%s", argv[1]), 2;
  if (command == "complain") return std::fprintf(stderr, "%s\n", argv[1]), 2;
  if (command == "flood") return flood(number(), argv[2][0]), 3;
  if (command == "sleep")
    return std::fflush(stdout), std::this_thread::sleep_for(std::chrono::milliseconds(number())), 2;
  if (command == "exit") std::exit(number());
  if (command == "ignore") return ::signal(number(), SIG_IGN), 2;
  if (command == "block" || command == "await") {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, number());
    if (command == "block") return ::sigprocmask(SIG_BLOCK, &one, nullptr), 2;
    int taken = 0;
    std::fflush(stdout);
    ::sigwait(&one, &taken);
    return std::printf("signal %d\n", taken), std::fflush(stdout), 2;
  }
  if (command == "variable") {
    const char* const value = std::getenv(argv[1]);
    return std::printf("%s=%s\n", argv[1], value == nullptr ? "(unset)" : value), 2;
  }
  if (command == "signal") {
    std::fflush(stdout);
    ::signal(number(), SIG_DFL);
    ::raise(number());
    return 2;
  }
  std::fprintf(stderr, "unknown command %s\n", argv[0]);
  std::exit(99);
}

}  // namespace

int main(int, char** argv) {
  ++argv;
  while (*argv != nullptr) {
    const int taken = obey(argv);
    if (taken < 0) break;
    argv += taken;
  }
}
