// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/runtime/rendezvous_thread.hpp>
#include <weft/runtime/text_file.hpp>

#include "process_mapping.hpp"
#include "store_protocol.hpp"

namespace weft {
namespace {

constexpr const char* kernel_words = "/proc/cmdline";
constexpr std::string_view prefix = "weft.";

/// How long one attempt to reach process 0 may take: a machine that boots does not answer what came before.
constexpr auto attempt_time = std::chrono::seconds(2);
constexpr auto attempt_pause = std::chrono::milliseconds(50);

/// How much sooner than process 0 itself its rendezvous gives up: it tells all who has not come.
constexpr auto told_before = std::chrono::milliseconds(500);

std::string content_of(const std::string& file, const std::string& what) {
  const std::optional<std::string> text = read_text(file);
  if (!text) throw_system_error(errno, "open", what + " " + file);
  return *text;
}

template <class Number>
Number number_of(const std::string& word, const std::string& value, Number least, Number most) {
  Number number{};
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc{} || end != value.data() + value.size() || number < least || number > most)
    throw error(errc::invalid_argument, word + "=" + value + ": a whole number from " + std::to_string(least) + " to " +
                                            std::to_string(most) + " is needed");
  return number;
}

std::string host_and_port(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// "process 1 of 3 of a job without a launcher: "
std::string part_of(const launch_description& job) {
  return "process " + std::to_string(job.process) + " of " + std::to_string(job.hosts.size()) +
         " of a job without a launcher: ";
}

bool is_here(const std::string& host) {
  try {
    listen_on(host);
    return true;
  } catch (const error& failure) {
    if (failure.code() == std::errc::address_not_available) return false;
    throw;
  }
}

/// "127.0.0.1, 10.0.0.7"
std::string addresses_here() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) throw_system_error(errno, "getifaddrs", "looking for this machine's addresses");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(all, ::freeifaddrs);
  std::string text;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const int family = each->ifa_addr != nullptr ? each->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6) continue;
    char host[NI_MAXHOST];
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(each->ifa_addr, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(host);
  }
  return text.empty() ? "none" : text;
}

void check(const launch_description& job) {
  const auto refuse = [](const std::string& why) {
    throw error(errc::invalid_argument, "a job without a launcher: " + why);
  };
  if (job.hosts.empty()) refuse("it has no hosts");
  for (const std::string& host : job.hosts) {
    in6_addr address;
    if (::inet_pton(AF_INET, host.c_str(), &address) != 1 && ::inet_pton(AF_INET6, host.c_str(), &address) != 1)
      refuse("\"" + host + "\" among its hosts is no numeric address, as 10.0.0.1 or fd00::1");
  }
  if (job.process >= static_cast<int>(job.hosts.size()))
    refuse("process " + std::to_string(job.process) + " of " + std::to_string(job.hosts.size()) +
           " (weft.rank counts weft.hosts from 0)");
  if (job.secret.size() < store_protocol::shortest_secret)
    refuse("its secret has " + std::to_string(job.secret.size()) + " characters; " +
           std::to_string(store_protocol::shortest_secret) + " are needed at least");
}

/// Those whose hosts are this machine.
std::vector<int> processes_here(const launch_description& job) {
  std::map<std::string, bool> known;
  std::vector<int> here;
  for (std::size_t p = 0; p < job.hosts.size(); ++p) {
    const auto [found, is_new] = known.try_emplace(job.hosts[p]);
    if (is_new) found->second = is_here(job.hosts[p]);
    if (found->second) here.push_back(static_cast<int>(p));
  }
  return here;
}

/// Opens the rendezvous as soon as this machine has its address.
file_descriptor listen_at(const launch_description& job, store::clock::time_point deadline) {
  for (;;) try {
      return listen_on(job.hosts[0], job.port);
    } catch (const error& failure) {
      const bool comes = failure.code() == std::errc::address_not_available;
      if (!comes || store::clock::now() >= deadline) throw;
      std::this_thread::sleep_for(attempt_pause);
    }
}

std::unique_ptr<store> connect(const launch_description& job, const store_job& identity,
                               store::clock::time_point deadline) {
  const std::string address = host_and_port(job.hosts[0], job.port);
  for (;;) try {
      const auto attempt = std::min(deadline, store::clock::now() + attempt_time);
      return connect_tcp_store(address, identity, job.process, attempt);
    } catch (const rendezvous_unreached& failure) {
      if (store::clock::now() + attempt_pause >= deadline)
        throw error(errc::no_rendezvous, std::string("process 0 has not come in time: ") + failure.what());
      std::this_thread::sleep_for(attempt_pause);
    }
}

/// "at 10.0.0.3 has not come in time"
std::string missing(const std::string& host) { return "at " + host + " has not come in time"; }

/// Waits for all; who gives up sooner than the rendezvous does asks it who is missing.
void meet(store& rendezvous, const launch_description& job, store::clock::time_point deadline) {
  const auto came = [](std::size_t process) { return "weft/came/" + std::to_string(process); };
  rendezvous.put(came(static_cast<std::size_t>(job.process)), {});
  try {
    rendezvous.fence(deadline);
  } catch (const error& failure) {
    if (failure.code() != errc::timed_out) throw;
    std::string all;
    for (std::size_t p = 0; p < job.hosts.size(); ++p)
      if (!rendezvous.find(came(p)))
        all += (all.empty() ? "process " : "; process ") + std::to_string(p) + " " + missing(job.hosts[p]);
    throw error(errc::timed_out, all);
  }
}

}  // namespace

bool is_described(const environment& variables) { return value_of(variables, "WEFT_JOB") == "static"; }

std::optional<launch_description> find_description(const environment& variables) {
  if (!is_described(variables)) return std::nullopt;
  std::string file = value_of(variables, "WEFT_JOB_FILE");
  if (file.empty()) file = kernel_words;
  return read_description(content_of(file, "WEFT_JOB=static: the words that describe the job"), file);
}

launch_description read_description(const std::string& words, const std::string& origin) {
  launch_description job;
  for (const std::string_view word : words_of(words)) {
    const std::size_t equals = word.find('=');
    if (!word.starts_with(prefix) || equals == std::string_view::npos) continue;
    const std::string name(word.substr(0, equals)), value(word.substr(equals + 1)), where = origin + ": " + name;
    if (name == "weft.hosts")
      for (const std::string_view host : parts_of(value, ',')) job.hosts.emplace_back(host);
    else if (name == "weft.rank")
      job.process = number_of(where, value, 0, std::numeric_limits<int>::max());
    else if (name == "weft.secret")
      job.secret = first_word_of(content_of(value, where));
    else if (name == "weft.port")
      job.port = number_of<std::uint16_t>(where, value, 1, std::numeric_limits<std::uint16_t>::max());
    else if (name == "weft.job")
      job.job = number_of<std::uint64_t>(where, value, 0, std::numeric_limits<std::uint64_t>::max());
    else
      job.options.emplace_back(name.substr(prefix.size()), value);
  }
  if (job.hosts.empty())
    throw error(errc::invalid_argument, origin +
                                            " has no weft.hosts=ADDRESS,ADDRESS,...: of each process the numeric "
                                            "address of its machine");
  if (job.secret.empty())
    throw error(errc::invalid_argument, origin +
                                            " has no weft.secret=FILE, or that is empty: what all processes of "
                                            "the job know, and nobody else");
  return job;
}

int await_process(const launch_description& job, store::clock::time_point deadline) {
  check(job);
  if (job.rendezvous >= 0 && job.process >= 0) return job.process;
  for (;; std::this_thread::sleep_for(attempt_pause)) {
    const std::vector<int> here = processes_here(job);
    if (job.process >= 0 && std::ranges::count(here, job.process) != 0) return job.process;
    if (job.process < 0 && here.size() == 1) return here[0];
    if (job.process < 0 && here.size() > 1)
      throw error(errc::invalid_argument, "a job without a launcher: processes " + std::to_string(here[0]) + " and " +
                                              std::to_string(here[1]) +
                                              " are both on this machine: say by weft.rank which this is");
    if (store::clock::now() < deadline) continue;
    const std::string wanted = job.process < 0 ? "none of its hosts is an address of this machine"
                                               : "process " + std::to_string(job.process) + " is to be at " +
                                                     job.hosts[static_cast<std::size_t>(job.process)] +
                                                     ", which is no address of this machine";
    throw error(errc::invalid_argument, "a job without a launcher: " + wanted + ", which has " + addresses_here());
  }
}

joined_job join_described(const launch_description& job, store::clock::time_point deadline) try {
  const auto processes = static_cast<int>(job.hosts.size());
  const store_job identity{job.job, processes, job.secret};
  joined_job joined{nullptr, job.job, job.secret, place_among(job.hosts, job.process), nullptr};
  file_descriptor given(job.rendezvous);
  if (job.process == 0) {
    absence limit{deadline - told_before,
                  [hosts = job.hosts](int process) { return missing(hosts[static_cast<std::size_t>(process)]); }};
    tcp_store_server server(identity, given ? std::move(given) : listen_at(job, deadline));
    joined.serves = std::make_shared<rendezvous_thread>(std::move(server), std::move(limit));
  }
  joined.rendezvous =
      given ? connect_tcp_store(std::move(given), identity, job.process, deadline) : connect(job, identity, deadline);
  meet(*joined.rendezvous, job, deadline);
  return joined;
} catch (const error& failure) {
  throw error(failure.code(), part_of(job) + failure.what());
}

}  // namespace weft
