#include "pmi_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"

namespace weft {
namespace {

// A value has at most 1023 characters, and what stands around it is short.
constexpr std::size_t longest_line = 4096;

/// The command of a request, without what it says of keys and values.
std::string command(const std::string& request) { return request.substr(0, request.find(' ')); }

[[noreturn]] void throw_silent(const std::string& name, const std::string& request) {
  throw error(errc::timed_out, name + ": no answer to " + command(request) + " before the deadline");
}

}  // namespace

std::string quoted(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, 120)) text += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + text + (line.size() > 120 ? "...\"" : "\"");
}

std::optional<std::string_view> pmi_field(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    const std::string_view token = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), token.size() + 1));
    if (token.size() > key.size() && token[key.size()] == '=' && token.starts_with(key))
      return token.substr(key.size() + 1);
  }
  return std::nullopt;
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

std::string pmi_connection::ask(const std::string& request, std::string_view answer, time_point deadline) {
  if (!usable_) throw error(errc::no_rendezvous, name_ + ": an earlier request has failed, none can follow it");
  usable_ = false;
  send_line("cmd=" + request + "\n", deadline);
  std::string line = read_line(request, deadline);
  if (pmi_field(line, "cmd") != answer)
    throw error(errc::protocol, name_ + ": " + command(request) + " was answered by " + quoted(line) +
                                    " in place of \"cmd=" + std::string(answer) + "\"");
  usable_ = true;
  return line;
}

void pmi_connection::send_line(const std::string& line, time_point deadline) {
  for (auto rest = as_bytes(line); !rest.empty();) {
    if (!wait_for(socket_, POLLOUT, deadline)) throw_silent(name_, line);
    const std::ptrdiff_t sent = send_now(socket_, rest);
    if (sent < 0) throw error(errc::no_rendezvous, name_ + ": it has closed the connection");
    rest = rest.subspan(static_cast<std::size_t>(sent));
  }
}

std::string pmi_connection::read_line(const std::string& request, time_point deadline) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    if (const std::size_t end = input_.find('\n'); end != std::string::npos) {
      std::string line = input_.substr(0, end);
      input_.erase(0, end + 1);
      return line;
    }
    if (input_.size() > longest_line)
      throw error(errc::protocol, name_ + ": the answer to " + command(request) + " has no end: " + quoted(input_));
    // The descriptor may be a blocking one, and whoever shares it would notice if that were changed.
    if (!wait_for(socket_, POLLIN, deadline)) throw_silent(name_, request);
    const std::ptrdiff_t received = receive_now(socket_, buffer);
    if (received < 0)
      throw error(errc::no_rendezvous, name_ + ": it closed the connection in place of an answer to " +
                                           command(request) +
                                           (input_.empty() ? "" : ", after half a line: " + quoted(input_)));
    input_ += as_text(std::span<const std::byte>(buffer).first(static_cast<std::size_t>(received)));
  }
}

}  // namespace weft
