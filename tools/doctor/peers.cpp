// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <weft/agents/remote_command.hpp>
#include <weft/fabric/interfaces.hpp>
#include <weft/processes/child.hpp>
#include <weft/processes/program.hpp>
#include <weft/processes/this_host.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using nlohmann::json;

constexpr auto whole_limit = 20s, connect_limit = 3s, end_limit = 1s;
constexpr std::size_t at_once = 32;
constexpr std::size_t longest_line = 1 << 16;

/// Listens where others are told to connect to: at loopback where there is nothing else.
std::vector<file_descriptor> listen_everywhere(const options& parsed) {
  std::vector<file_descriptor> listeners;
  for (const auto& each : fabric::usable_interfaces(parsed.interface, parsed.address)) try {
      listeners.push_back(listen_on(each.address));
    } catch (const error&) {  // one that the system is not sure of yet
      continue;
    }
  if (listeners.empty()) listeners.push_back(listen_on("127.0.0.1"));
  return listeners;
}

std::vector<std::string> addresses_of(const std::vector<file_descriptor>& listeners) {
  std::vector<std::string> addresses;
  for (const file_descriptor& each : listeners) addresses.push_back(local_address(each));
  return addresses;
}

/// The first address that can be connected to; else the reasons why none can.
struct reached {
  std::string address;
  std::string failures;
};

reached connect_to_any(const std::vector<std::string>& addresses) {
  reached result;
  for (const std::string& address : addresses) try {
      connect_to(address, clock_type::now() + connect_limit);
      return {address, ""};
    } catch (const error& failure) {
      result.failures += (result.failures.empty() ? "" : "; ") + std::string(failure.what());
    }
  return result;
}

/// Reads a peer's output line by line. The descriptor is non-blocking.
class line_reader {
 public:
  explicit line_reader(file_descriptor from) : from_(std::move(from)) {}

  /// Nothing at the end and at the deadline.
  std::optional<std::string> next(clock_type::time_point deadline) {
    std::size_t end;
    while ((end = text_.find('\n')) == std::string::npos && text_.size() < longest_line)
      if (!wait_for(from_, POLLIN, deadline) || !more()) return std::nullopt;
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

  /// What there is up to the end, or now.
  std::string rest() {
    while (text_.size() < longest_line && wait_for(from_, POLLIN, clock_type::now()) && more()) continue;
    return text_;
  }

 private:
  bool more() {
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(from_.get(), buffer.data(), buffer.size());
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  file_descriptor from_;
  std::string text_;
};

/// A line that says what the peer found, among those that the shell's start-up files say.
std::optional<json> next_said(line_reader& output, clock_type::time_point deadline) {
  while (const auto line = output.next(deadline)) {
    json said = json::parse(*line, nullptr, false);
    if (said.is_object() && said.contains("weft")) return said;
  }
  return std::nullopt;
}

class peer {
 public:
  peer(const std::string& host, const peer_settings& settings, const std::vector<std::string>& ours);
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  finding check(clock_type::time_point deadline);

 private:
  finding failed(const std::string& found, const std::string& remedy) const {
    return {"host " + host_, severity::error, found, remedy};
  }
  finding silent();

  std::string host_;
  child shell_;
  file_descriptor input_;  ///< the peer ends with it
  std::unique_ptr<line_reader> output_, complaints_;
};

peer::peer(const std::string& host, const peer_settings& settings, const std::vector<std::string>& ours) : host_(host) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> arguments{"doctor-peer", CLI::detail::join(ours, ",")};
  arguments.insert(arguments.end(), settings.weft_arguments.begin(), settings.weft_arguments.end());
  child_settings how;
  if (is_this_host(host)) {
    how.arguments = {program};
    how.arguments.insert(how.arguments.end(), arguments.begin(), arguments.end());
  } else {
    how.arguments = settings.rsh;
    how.arguments.insert(how.arguments.end(), {host, remote_command(program, arguments)});
  }
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(errno, "pipe2", "starting a peer");
  const file_descriptor to_read(ends[0]);
  input_.reset(ends[1]);
  how.path = find_program(how.arguments.front());
  for (char** line = environ; *line != nullptr; ++line) how.environment.emplace_back(*line);
  how.standard_input = to_read.get();
  shell_ = start(how);
  output_ = std::make_unique<line_reader>(std::move(shell_.output));
  complaints_ = std::make_unique<line_reader>(std::move(shell_.error));
}

peer::~peer() {
  input_.reset();
  if (!wait_for(shell_.handle, POLLIN, clock_type::now() + end_limit)) ::kill(-shell_.pid, SIGKILL);
  reap(shell_);
}

finding peer::silent() {
  const bool ended = wait_for(shell_.handle, POLLIN, clock_type::now() + end_limit);  // just after its output
  std::string complaint = complaints_->rest();
  complaint.resize(std::min(complaint.find('\n'), complaint.size()));
  const std::string how = ended ? "the remote shell " + describe(ending_of(shell_)) : "no weft answered in time";
  return failed("cannot be used: " + how + (complaint.empty() ? "" : ": " + complaint),
                "a remote shell (--rsh) that asks for nothing, and weft at the same path there");
}

finding peer::check(clock_type::time_point deadline) {
  const auto greeting = next_said(*output_, deadline);
  if (!greeting) return silent();
  if (greeting->at("weft") != WEFT_VERSION)
    return failed("has weft " + greeting->at("weft").get<std::string>() + ", here is " WEFT_VERSION,
                  "the same weft on every host");
  const reached there = connect_to_any(greeting->at("addresses").get<std::vector<std::string>>());
  const auto outcome = next_said(*output_, deadline);
  if (!outcome) return silent();
  const reached here{outcome->at("address"), outcome->at("failures")};
  const std::string remedy = "let TCP through between the hosts, or choose another network with --weft-interface";
  if (there.address.empty()) return failed("cannot be connected to from here: " + there.failures, remedy);
  if (here.address.empty()) return failed("cannot connect to this host: " + here.failures, remedy);
  return {"host " + host_, severity::ok, "reached at " + there.address + ", and reaches " + here.address, ""};
}

}  // namespace

std::vector<finding> check_peers(const peer_settings& settings) {
  try {
    find_program(settings.rsh.front());
  } catch (const launch_failure& failure) {
    return {{"hosts", severity::error, failure.what(), "a remote shell, by --rsh"}};
  }
  const std::vector<file_descriptor> listeners = listen_everywhere(settings.parsed);
  const std::vector<std::string> ours = addresses_of(listeners);
  std::vector<finding> all;
  for (std::size_t first = 0; first < settings.hosts.size(); first += at_once) {
    const auto deadline = clock_type::now() + whole_limit;
    std::vector<std::unique_ptr<peer>> some;
    for (std::size_t i = first; i < std::min(first + at_once, settings.hosts.size()); ++i)
      some.push_back(std::make_unique<peer>(settings.hosts[i], settings, ours));
    for (const auto& each : some) all.push_back(each->check(deadline));
  }
  return all;
}

void be_peer(const std::string& addresses, const options& parsed) {
  const std::vector<file_descriptor> listeners = listen_everywhere(parsed);
  const auto say = [](const json& what) {
    std::printf("%s\n", what.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  };
  say({{"weft", WEFT_VERSION}, {"addresses", addresses_of(listeners)}});
  const reached theirs = connect_to_any(CLI::detail::split(addresses, ','));
  say({{"weft", WEFT_VERSION}, {"address", theirs.address}, {"failures", theirs.failures}});
  char ignored;
  while (::read(0, &ignored, 1) > 0) continue;
}

}  // namespace weft::tools
