// SPDX-License-Identifier: Apache-2.0
#include "agent_handshake.hpp"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto launcher_proof_limit = 5s;  // a launcher may be busy with other agents
constexpr auto round_limit = 3s;           // for connections to addresses that nobody refuses
constexpr auto pause = 50ms;
constexpr std::size_t number_size = 4;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

proof agents_proof(const std::string& secret, const challenge& launchers, std::span<const std::byte> number,
                   std::span<const std::byte> agents) {
  return prove(bytes_of(secret), "weft agent", {launchers, number, agents});
}

proof launchers_proof(const std::string& secret, const challenge& launchers, std::span<const std::byte> number,
                      std::span<const std::byte> agents) {
  return prove(bytes_of(secret), "weft agent's launcher", {launchers, number, agents});
}

void receive_all(const file_descriptor& socket, std::span<std::byte> into, socket_deadline deadline,
                 const std::string& address) {
  while (!into.empty()) {
    const std::size_t received = receive_some(socket, into, deadline, address);
    if (received == 0) throw error(errc::no_rendezvous, address + ": it closed the connection");
    into = into.subspan(received);
  }
}

/// Proves itself to the launcher, which may be somebody else.
void introduce(const file_descriptor& socket, const std::string& address, const std::string& secret, int host) {
  const auto deadline = clock_type::now() + launcher_proof_limit;
  challenge theirs;
  receive_all(socket, theirs, deadline, address);
  const challenge mine = draw_challenge();
  std::array<std::byte, agent_hello_size> hello;
  for (std::size_t i = 0; i < number_size; ++i) hello[i] = static_cast<std::byte>(host >> (8 * i));
  const auto number = std::span(hello).first(number_size);
  std::ranges::copy(mine, hello.begin() + number_size);
  std::ranges::copy(agents_proof(secret, theirs, number, mine), hello.begin() + number_size + mine.size());
  send_all(socket, hello, deadline, address);
  proof answer;
  receive_all(socket, answer, deadline, address);
  if (!same_proof(launchers_proof(secret, theirs, number, mine), answer))
    throw error(errc::no_rendezvous, address + ": what answers does not know the job's secret");
}

struct attempt {
  const std::string& address;
  file_descriptor socket;
  std::string outcome = "no answer";
};

std::vector<attempt> start_all(const std::vector<std::string>& addresses) {
  std::vector<attempt> all;
  for (const std::string& address : addresses) {
    attempt& one = all.emplace_back(attempt{address, {}});
    try {
      one.socket = start_connecting(address);
    } catch (const error& failure) {
      one.outcome = failure.what();
    }
  }
  return all;
}

/// What became of it; a socket if that is the launcher.
file_descriptor conclude(attempt& one, const std::string& secret, int host) {
  file_descriptor socket = std::move(one.socket);
  try {
    end_connecting(socket, one.address);
    introduce(socket, one.address, secret, host);
    return socket;
  } catch (const error& failure) {
    one.outcome = failure.what();
    return {};
  }
}

/// Tries every address once. Nothing when none is the launcher.
file_descriptor try_all(std::vector<attempt>& all, const std::string& secret, int host,
                        const file_descriptor& abandoned, socket_deadline deadline) {
  while (clock_type::now() < deadline) {
    std::vector<pollfd> waiting{{abandoned.get(), 0, 0}};
    for (const attempt& one : all) waiting.push_back({one.socket.get(), POLLOUT, 0});  // -1: passed over
    if (std::ranges::none_of(all, [](const attempt& one) { return static_cast<bool>(one.socket); })) break;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_type::now()).count();
    ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (waiting.front().revents != 0) throw error(errc::no_rendezvous, "who started this agent has gone");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (waiting[i + 1].revents != 0)
        if (file_descriptor socket = conclude(all[i], secret, host)) return socket;
  }
  return {};
}

}  // namespace

std::optional<admission> admit(const std::string& secret, const challenge& asked, std::span<const std::byte> hello) {
  const auto number = hello.first(number_size);
  const auto theirs = hello.subspan(number_size, sizeof(challenge));
  if (!same_proof(agents_proof(secret, asked, number, theirs), hello.subspan(number_size + sizeof(challenge))))
    return std::nullopt;
  std::uint32_t host = 0;
  for (std::size_t i = 0; i < number_size; ++i) host |= std::to_integer<std::uint32_t>(number[i]) << (8 * i);
  return admission{static_cast<int>(host), launchers_proof(secret, asked, number, theirs)};
}

file_descriptor connect_to_launcher(const std::vector<std::string>& addresses, const std::string& secret, int host,
                                    const file_descriptor& abandoned, socket_deadline deadline) {
  for (;;) {
    std::vector<attempt> all = start_all(addresses);
    const auto now = clock_type::now();
    if (file_descriptor socket = try_all(all, secret, host, abandoned, std::min(deadline, now + round_limit)))
      return socket;
    if (clock_type::now() + pause >= deadline) {
      std::string outcomes;
      for (const attempt& one : all) outcomes += "; " + one.address + ": " + one.outcome;
      throw error(errc::no_rendezvous, "the launcher cannot be reached from here" + outcomes);
    }
    pollfd hang_up{abandoned.get(), 0, 0};
    if (::poll(&hang_up, 1, static_cast<int>(pause.count())) != 0)
      throw error(errc::no_rendezvous, "who started this agent has gone");
  }
}

}  // namespace weft::tools
