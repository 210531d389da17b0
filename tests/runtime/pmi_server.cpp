// SPDX-License-Identifier: Apache-2.0
#include "runtime/pmi_server.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>

namespace weft_test {
namespace {

/// As many descriptors as the system permits: a server of 1,024 processes holds both ends of all connections.
void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string field(const std::string& request, const std::string& name) {
  for (const char separator : {' ', ';'}) {
    const std::size_t begin = request.find(separator + name + "=");
    if (begin == std::string::npos) continue;
    const std::size_t value = begin + name.size() + 2;
    return request.substr(value, request.find(separator, value) - value);
  }
  return "";
}

bool is(const std::string& request, const std::string& command) {
  return request == "cmd=" + command || request.starts_with("cmd=" + command + " ") ||
         request.starts_with("cmd=" + command + ";");
}

/// A message of PMI-2, with spaces behind the length as Slurm has them, which hydra puts in front.
std::string message_2(const std::string& body) {
  std::string length = std::to_string(body.size());
  length.resize(6, ' ');
  return length + body;
}

/// The message in front of `input`, if it is there whole.
std::optional<std::string> take_message(std::string& input, bool version_2) {
  std::size_t begin = 0, end = input.find('\n'), next = end + 1;
  if (version_2) {
    begin = 6;
    end = next = input.size() < begin ? std::string::npos : begin + std::stoul(input.substr(0, begin));
  }
  if (end > input.size()) return std::nullopt;
  std::string message = input.substr(begin, end - begin);
  input.erase(0, next);
  return message;
}

}  // namespace

pmi_server::pmi_server(int processes, pmi_twist twist, std::size_t value_limit, std::string close_on,
                       pmi_version version)
    : twist_(std::move(twist)),
      value_limit_(value_limit),
      close_on_(std::move(close_on)),
      version_(version),
      clients_(static_cast<std::size_t>(processes)) {
  if (processes > 100) raise_descriptor_limit();
  for (client& each : clients_) {
    std::array<int, 2> ends;
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) throw std::runtime_error("socketpair");
    each.theirs.reset(ends[0]);
    each.mine.reset(ends[1]);
  }
  std::array<int, 2> stop;
  if (::pipe(stop.data()) != 0) throw std::runtime_error("pipe");
  stop_read_.reset(stop[0]);
  stop_write_.reset(stop[1]);
  thread_ = std::thread([this] { serve(); });
}

pmi_server::~pmi_server() {
  stop_write_.reset();
  thread_.join();
}

weft::pmi_environment pmi_server::started(int process) const {
  return {clients_[static_cast<std::size_t>(process)].theirs.get(), process, static_cast<int>(clients_.size())};
}

void pmi_server::serve() {
  std::vector<pollfd> watched;
  for (;;) {
    watched.assign(1, {stop_read_.get(), POLLIN, 0});
    for (const client& each : clients_) watched.push_back({each.mine.get(), POLLIN, 0});  // -1 is passed over
    ::poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) return;
    for (std::size_t i = 0; i < clients_.size(); ++i)
      if (watched[i + 1].revents != 0) read(clients_[i], static_cast<int>(i));
  }
}

void pmi_server::read(client& from, int process) {
  std::array<std::byte, 8192> buffer;
  const auto received = weft::receive_now(from.mine, buffer);
  if (received < 0) return from.mine.reset();
  from.input.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(received));
  while (const auto message = take_message(from.input, from.in_version_2)) {
    const std::string& request = *message;
    longest_line_ = std::max(longest_line_.load(), request.size() + 1);
    most_requests_ = std::max(most_requests_.load(), ++from.requests);
    if (!close_on_.empty() && is(request, close_on_)) return from.mine.reset();
    if (is(request, "finalize")) ++finalized_;
    if (is(request, "barrier_in") || is(request, "kvs-fence"))
      come_to_barrier(request);
    else
      say(from, process, request, version_ == pmi_version::one ? answer(request) : answer_2(from, process, request));
  }
}

void pmi_server::say(client& to, int process, const std::string& request, const std::string& answer) {
  const std::string text = twist_ ? twist_(process, request, answer) : answer;
  weft::send_now(to.mine, std::as_bytes(std::span(text)));
}

void pmi_server::come_to_barrier(const std::string& request) {
  if (++in_barrier_ < static_cast<int>(clients_.size())) return;
  in_barrier_ = 0;
  values_.merge(put_);
  const std::string out =
      version_ == pmi_version::one ? "cmd=barrier_out\n" : message_2("cmd=kvs-fence-response;rc=0;");
  for (std::size_t i = 0; i < clients_.size(); ++i) say(clients_[i], static_cast<int>(i), request, out);
}

std::string pmi_server::answer(const std::string& request) {
  if (is(request, "init"))
    return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=" +
           std::string(field(request, "pmi_version") == "1" ? "0\n" : "-1\n");
  if (is(request, "get_maxes"))
    return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" + std::to_string(value_limit_) + "\n";
  if (is(request, "get_my_kvsname")) return "cmd=my_kvsname kvsname=kvs_1\n";
  if (is(request, "finalize")) return "cmd=finalize_ack\n";
  const std::string key = field(request, "key");
  if (is(request, "put")) {
    const bool fresh =
        !values_.contains(key) && put_.emplace(key, field(request, "value").substr(0, value_limit_ - 1)).second;
    return fresh ? "cmd=put_result rc=0 msg=success\n" : "cmd=put_result rc=-1 msg=duplicate_key_" + key + "\n";
  }
  const auto found = values_.find(key);
  return found == values_.end() ? "cmd=get_result rc=-1 msg=key_" + key + "_not_found value=unknown\n"
                                : "cmd=get_result rc=0 msg=success value=" + found->second + "\n";
}

std::string pmi_server::answer_2(client& to, int process, const std::string& request) {
  if (is(request, "init")) {
    to.in_version_2 = field(request, "pmi_version") == "2";
    return "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=" + std::string(to.in_version_2 ? "0\n" : "-1\n");
  }
  if (is(request, "fullinit"))
    return message_2("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=" + std::to_string(process) +
                     ";size=" + std::to_string(clients_.size()) + ";appnum=-1;debugged=FALSE;pmiverbose=FALSE;");
  if (is(request, "finalize")) return message_2("cmd=finalize-response;rc=0;");
  const std::string key = field(request, "key");
  if (is(request, "kvs-put")) {
    put_[key] = field(request, "value").substr(0, value_limit_ - 1);
    return message_2("cmd=kvs-put-response;rc=0;");
  }
  const std::string response = "cmd=" + request.substr(4, request.find(';') - 4) + "-response;rc=0;found=";
  const auto found = is(request, "kvs-get") ? values_.find(key) : values_.end();
  return message_2(response + (found == values_.end() ? "FALSE;" : "TRUE;value=" + found->second + ";"));
}

}  // namespace weft_test
