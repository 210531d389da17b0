// SPDX-License-Identifier: Apache-2.0
#include "pmi_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"

namespace weft {
namespace {

// A value has at most 1023 characters, and what stands around it is short.
constexpr std::size_t longest_message = 4096;
constexpr std::size_t length_size = 6;  // of PMI-2

/// The command of a request, without what it says of keys and values.
std::string command(const std::string& request) { return request.substr(0, request.find_first_of(" ;")); }

/// The length in front of a message of PMI-2: hydra puts spaces before its digits, Slurm behind them.
std::optional<std::size_t> read_length(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  std::size_t length = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

[[noreturn]] void throw_silent(const std::string& name, const std::string& request) {
  throw error(errc::timed_out, name + ": no answer to " + command(request) + " before the deadline");
}

}  // namespace

std::string in_quotes(std::string_view message) {
  std::string text;
  for (const char c : message.substr(0, 120)) text += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + text + (message.size() > 120 ? "...\"" : "\"");
}

std::string pmi1_message(const std::string& request) { return "cmd=" + request + "\n"; }

std::string pmi2_message(const std::string& request) {
  const std::string body = "cmd=" + request + ";";
  std::string length = std::to_string(body.size());
  length.insert(0, length_size - length.size(), ' ');
  return length + body;
}

pmi_connection::pmi_connection(int descriptor)
    : name_("the launcher's PMI (PMI_FD=" + std::to_string(descriptor) + ")"),
      socket_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
  int type = 0;
  socklen_t length = sizeof type;
  if (!socket_ || ::getsockopt(socket_.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0)
    throw error(errc::no_rendezvous, name_ + ": the descriptor is no open socket: " +
                                         std::error_code(errno, std::generic_category()).message() + " (errno " +
                                         std::to_string(errno) + ")");
}

std::optional<std::string_view> pmi_connection::field(std::string_view answer, std::string_view key) const {
  const char separator = version_2_ ? ';' : ' ';
  while (!answer.empty()) {
    const std::string_view token = answer.substr(0, answer.find(separator));
    answer.remove_prefix(std::min(answer.size(), token.size() + 1));
    if (token.size() > key.size() && token[key.size()] == '=' && token.starts_with(key))
      return token.substr(key.size() + 1);
  }
  return std::nullopt;
}

std::string pmi_connection::ask(const std::string& request, std::string_view answer, time_point deadline) {
  if (!usable_) throw error(errc::no_rendezvous, name_ + ": an earlier request has failed, none can follow it");
  usable_ = false;
  send(request, deadline);
  std::string message = receive(request, deadline);
  if (field(message, "cmd") != answer)
    throw error(errc::protocol, name_ + ": " + command(request) + " was answered by " + in_quotes(message) +
                                    " in place of \"cmd=" + std::string(answer) + "\"");
  usable_ = true;
  return message;
}

void pmi_connection::send(const std::string& request, time_point deadline) {
  const std::string message = version_2_ ? pmi2_message(request) : pmi1_message(request);
  for (auto rest = as_bytes(message); !rest.empty();) {
    if (!wait_for(socket_, POLLOUT, deadline)) throw_silent(name_, request);
    const std::ptrdiff_t sent = send_now(socket_, rest);
    if (sent < 0) throw error(errc::no_rendezvous, name_ + ": it has closed the connection");
    rest = rest.subspan(static_cast<std::size_t>(sent));
  }
}

std::string pmi_connection::receive(const std::string& request, time_point deadline) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    if (auto message = take_message(request)) return *std::move(message);
    // The descriptor may be a blocking one, and whoever shares it would notice if that were changed.
    if (!wait_for(socket_, POLLIN, deadline)) throw_silent(name_, request);
    const std::ptrdiff_t received = receive_now(socket_, buffer);
    if (received < 0)
      throw error(errc::no_rendezvous, name_ + ": it closed the connection in place of an answer to " +
                                           command(request) +
                                           (input_.empty() ? "" : ", after half a message: " + in_quotes(input_)));
    input_ += as_text(std::span<const std::byte>(buffer).first(static_cast<std::size_t>(received)));
  }
}

/// The answer that has come, if it has come whole.
std::optional<std::string> pmi_connection::take_message(const std::string& request) {
  std::size_t begin = 0, end = input_.find('\n'), next = end + 1;
  if (version_2_) {
    if (input_.size() < length_size) return std::nullopt;
    const auto length = read_length(std::string_view(input_).substr(0, length_size));
    if (!length || *length > longest_message)
      throw error(errc::protocol,
                  name_ + ": the answer to " + command(request) + " does not begin with its length: " + in_quotes(input_));
    begin = length_size;
    end = next = length_size + *length;
  } else if (end == std::string::npos && input_.size() > longest_message) {
    throw error(errc::protocol, name_ + ": the answer to " + command(request) + " has no end: " + in_quotes(input_));
  }
  if (end > input_.size()) return std::nullopt;
  std::string message = input_.substr(begin, end - begin);
  input_.erase(0, next);
  return message;
}

}  // namespace weft
