#include "runtime/pmi_server.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
  const std::size_t begin = request.find(" " + name + "=");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 2;
  return request.substr(value, request.find(' ', value) - value);
}

bool is(const std::string& request, const std::string& command) {
  return request == "cmd=" + command || request.starts_with("cmd=" + command + " ");
}

}  // namespace

pmi_server::pmi_server(int processes, pmi_twist twist, std::size_t value_limit, std::string close_on)
    : twist_(std::move(twist)),
      value_limit_(value_limit),
      close_on_(std::move(close_on)),
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
  for (std::size_t end; (end = from.input.find('\n')) != std::string::npos;) {
    const std::string request = from.input.substr(0, end);
    from.input.erase(0, end + 1);
    longest_line_ = std::max(longest_line_.load(), end + 1);
    most_requests_ = std::max(most_requests_.load(), ++from.requests);
    if (!close_on_.empty() && is(request, close_on_)) return from.mine.reset();
    if (is(request, "finalize")) ++finalized_;
    if (is(request, "barrier_in"))
      come_to_barrier(request);
    else
      say(from, process, request, answer(request));
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
  for (std::size_t i = 0; i < clients_.size(); ++i) say(clients_[i], static_cast<int>(i), request, "cmd=barrier_out\n");
}

std::string pmi_server::answer(const std::string& request) {
  if (is(request, "init")) return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
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

}  // namespace weft_test
