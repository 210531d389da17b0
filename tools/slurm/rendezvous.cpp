// SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <weft/runtime/error.hpp>

namespace weft::tools {

slurm_rendezvous::slurm_rendezvous(const store_job& job, const std::vector<std::string>& hosts) {
  tcp_store_server server(job, hosts.front());
  std::map<std::string, std::string> known{{hosts.front(), server.address()}};
  for (const std::string& host : hosts) {
    if (!known.contains(host)) known[host] = server.listen(host);
    addresses_.push_back(known[host]);
  }
  thread_.emplace(std::move(server));
}

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
