// SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <thread>
#include <weft/runtime/error.hpp>

namespace weft::tools {

struct slurm_rendezvous::state {
  state(const store_job& job, const std::vector<std::string>& hosts)
      : server(job, hosts.front()), stop(::eventfd(0, EFD_CLOEXEC)) {
    if (!stop) throw_system_error(errno, "eventfd", "serving the job's rendezvous");
    std::map<std::string, std::string> known{{hosts.front(), server.address()}};
    for (const std::string& host : hosts) {
      if (!known.contains(host)) known[host] = server.listen(host);
      addresses.push_back(known[host]);
    }
  }

  void serve() try {
    for (;;) {
      std::array<pollfd, 2> ready{{{server.descriptor(), POLLIN, 0}, {stop.get(), POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0) return;
      server.serve();
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "weft: the job's rendezvous ends: %s\n", failure.what());
  }

  tcp_store_server server;
  file_descriptor stop;
  std::vector<std::string> addresses;
  std::thread thread;
};

slurm_rendezvous::slurm_rendezvous(const store_job& job, const std::vector<std::string>& hosts)
    : state_(std::make_unique<state>(job, hosts)) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it: srun has its own for signals
  state_->thread = std::thread([serving = state_.get()] { serving->serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

slurm_rendezvous::~slurm_rendezvous() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->stop.get(), &one, sizeof one);
  state_->thread.join();
}

const std::vector<std::string>& slurm_rendezvous::addresses() const noexcept { return state_->addresses; }

std::string address_towards(const std::string& host) {
  const std::string what = "looking for the way to node address " + host;
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (const int failure = ::getaddrinfo(host.c_str(), "9", &hints, &found); failure != 0)  // any port: nothing is sent
    throw error(errc::invalid_argument, what + ": " + ::gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  const file_descriptor socket(::socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (!socket || ::connect(socket.get(), list->ai_addr, list->ai_addrlen) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    throw_system_error(errno, "connect", what);
  std::array<char, NI_MAXHOST> name{};
  ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, name.data(), name.size(), nullptr, 0, NI_NUMERICHOST);
  return name.data();
}

}  // namespace weft::tools
