// SPDX-License-Identifier: Apache-2.0
#include "acceptor.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = event_loop::clock;

constexpr auto proof_limit = 800ms;
constexpr auto deaf_time = 100ms;
constexpr std::size_t unproved_limit = 128;  // beyond one for each agent that is expected
constexpr int most_at_once = 64;             // accepted before others get their turn

}  // namespace

acceptor::acceptor(event_loop& loop, const std::vector<std::string>& local, std::string secret, std::size_t expected,
                   handler accepted)
    : loop_(loop),
      secret_(std::move(secret)),
      most_unproved_(expected + unproved_limit),
      accepted_(std::move(accepted)),
      proofs_(loop, [this] { keep_time(); }),
      deaf_(loop, [this] { listen(); }) {
  std::string outcome = "this machine has no address";
  for (const std::string& address : local) try {
      listeners_.push_back(listen_on(address));
    } catch (const error& failure) {  // one that the system is not sure of yet
      outcome = failure.what();
    }
  if (listeners_.empty()) throw error(errc::no_rendezvous, "waiting for agents: " + outcome);
  listen();
}

void acceptor::listen() {
  for (const file_descriptor& listener : listeners_)
    loop_.watch(listener.get(), EPOLLIN, [this, &listener] { accept_some(listener); });
}

std::vector<std::string> acceptor::addresses() const {
  std::vector<std::string> result;
  for (const file_descriptor& listener : listeners_) result.push_back(local_address(listener));
  return result;
}

void acceptor::close() {
  for (const file_descriptor& listener : listeners_) loop_.forget(listener.get());
  listeners_.clear();
  while (!unproved_.empty()) drop(unproved_.begin());
  proofs_.clear();
  deaf_.clear();
}

void acceptor::accept_some(const file_descriptor& listener) {
  try {
    for (int i = 0; i < most_at_once; ++i) {
      file_descriptor socket = accept_from(listener);
      if (!socket) return;
      take(std::move(socket));
    }
  } catch (const error&) {  // no more descriptors or memory: the listener stays readable, so look away for a while
    if (!unproved_.empty()) drop(unproved_.begin());
    for (const file_descriptor& each : listeners_) loop_.forget(each.get());
    deaf_.set(clock_type::now() + deaf_time);
  }
}

void acceptor::take(file_descriptor socket) {
  if (unproved_.size() >= most_unproved_) drop(unproved_.begin());
  unproved& one = unproved_.emplace_back(unproved{std::move(socket)});
  const auto who = std::prev(unproved_.end());
  loop_.watch(one.socket.get(), EPOLLIN, [this, who] { receive(who); });
  if (send_now(one.socket, one.asked) != static_cast<std::ptrdiff_t>(one.asked.size())) return drop(who);
  if (unproved_.size() == 1) proofs_.set(one.since + proof_limit);
}

void acceptor::receive(std::list<unproved>::iterator who) {
  const auto received = receive_now(who->socket, std::span(who->hello).subspan(who->received));
  if (received < 0) return drop(who);
  who->received += static_cast<std::size_t>(received);
  if (who->received < who->hello.size()) return;
  const auto admitted = admit(secret_, who->asked, who->hello);
  const bool told =
      admitted && send_now(who->socket, admitted->answer) == static_cast<std::ptrdiff_t>(admitted->answer.size());
  if (!told) return drop(who);
  loop_.forget(who->socket.get());
  file_descriptor socket = std::move(who->socket);
  unproved_.erase(who);
  accepted_(admitted->host, std::move(socket));
}

void acceptor::drop(std::list<unproved>::iterator who) {
  loop_.forget(who->socket.get());
  unproved_.erase(who);
}

void acceptor::keep_time() {
  while (!unproved_.empty() && clock_type::now() - unproved_.front().since >= proof_limit) drop(unproved_.begin());
  if (!unproved_.empty()) proofs_.set(unproved_.front().since + proof_limit);
}

}  // namespace weft::tools
