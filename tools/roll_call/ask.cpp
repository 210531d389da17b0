// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <weft/roll_call/ask.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/roll_line.hpp>

namespace weft::tools {
namespace {

using clock_type = std::chrono::steady_clock;

/// No process has more to say.
constexpr std::size_t longest_answer = std::size_t{16} << 20;

constexpr int most_ranks = 1'000'000;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Number>
bool whole(std::string_view text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size();
}

/// "weft-UID-JOB-PROCESS-PID"
bool read_name(std::string_view name, roll_socket& to) {
  std::array<std::string_view, 5> parts;
  std::size_t count = 0;
  for (std::string_view rest = name; count < parts.size(); ++count) {
    parts[count] = rest.substr(0, count + 1 == parts.size() ? rest.size() : rest.find('-'));
    if (parts[count].size() == rest.size() && count + 1 < parts.size()) return false;
    rest.remove_prefix(std::min(rest.size(), parts[count].size() + 1));
  }
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (parts[0] != "weft" || !whole(parts[1], to.uid) || !whole(parts[4], to.pid) || to.pid <= 0) return false;
  if (parts[2].empty() || !std::ranges::all_of(parts[2], digit)) return false;
  if (parts[3] != "run" && (!whole(parts[3], to.process) || to.process < 0)) return false;
  to.job = parts[2];
  to.name = name;
  return true;
}

socklen_t address_of(std::string_view name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

/// Who is at the other end; of a listening socket's connections, who listens.
ucred other_end(const file_descriptor& socket) {
  ucred its{};
  socklen_t length = sizeof its;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &its, &length) != 0) its.uid = static_cast<uid_t>(-1);
  return its;
}

/// A connection that is read until it ends.
struct conversation {
  file_descriptor socket;
  std::string text;
  pid_t pid = 0;  ///< of who answers
  bool over = false;

  explicit conversation(const roll_socket& whom)
      : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address;
    const socklen_t length = address_of(whom.name, address);
    // Anybody may take such a name: only its owner is believed.
    over = !socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
           other_end(socket).uid != whom.uid;
    if (!over) pid = other_end(socket).pid;
    if (over) socket.reset();
  }

  void read() {
    std::array<char, 64 << 10> buffer;
    const auto count = receive_now(socket, std::as_writable_bytes(std::span(buffer)));
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    over = count < 0 || text.size() > longest_answer;
  }
};

void hold(std::vector<conversation>& all, clock_type::time_point deadline) {
  while (true) {
    std::vector<pollfd> open;
    for (const conversation& each : all)
      if (!each.over) open.push_back({each.socket.get(), POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_type::now()).count();
    if (open.empty() || left <= 0) return;
    if (::poll(open.data(), open.size(), static_cast<int>(left)) <= 0) continue;
    std::set<int> ready;
    for (const pollfd& each : open)
      if (each.revents != 0) ready.insert(each.fd);
    for (conversation& each : all)
      if (!each.over && ready.contains(each.socket.get())) each.read();
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// What is known of a process that says nothing.
roll_process silent_process(const roll_socket& whom, pid_t pid) {
  roll_process its;
  its.job = whom.job;
  its.number = whom.process;
  its.pid = pid;
  its.host = host_name();
  const char state = state_of(pid, pid);
  its.phase = state == 'T' ? "is stopped" : state == 't' ? "is stopped by a debugger" : "does not answer";
  const std::string variables = contents("/proc/" + std::to_string(pid) + "/environ");
  const auto number = [&](std::string_view name) {
    int found = 0;
    for (std::size_t at = 0; at < variables.size(); at = variables.find('\0', at) + 1) {
      const std::string_view line(variables.c_str() + at);
      if (line.starts_with(name)) whole(line.substr(name.size()), found);
      if (variables.find('\0', at) == std::string::npos) break;
    }
    return found;
  };
  const int all = std::min(number("WEFT_RANKS="), most_ranks), each = number("WEFT_RANKS_PER_PROCESS=");
  if (const int of = number("WEFT_PROCESSES="); of > 0) its.of = of;
  if (each <= 0 || each > all || whom.process > all / each) return its;
  for (int rank = whom.process * each; rank < std::min(all, (whom.process + 1) * each); ++rank) {
    roll_rank silent;
    silent.rank = rank;
    silent.thread = pid;
    silent.state = state;
    silent.phase = its.phase;
    its.ranks.push_back(silent);
  }
  return its;
}

}  // namespace

std::vector<roll_socket> parse_sockets(std::string_view table, uid_t user) {
  std::map<std::string, roll_socket> found;  // connections bear the name of whom they lead to
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    const std::size_t at = line.find(" @weft-");
    roll_socket its;
    if (at == std::string_view::npos || !read_name(line.substr(at + 2), its)) continue;
    if (user == 0 || its.uid == user) found.emplace(its.name, its);
  }
  std::vector<roll_socket> result;
  for (auto& [name, its] : found) result.push_back(std::move(its));
  return result;
}

std::vector<roll_socket> find_sockets() { return parse_sockets(contents("/proc/net/unix"), ::getuid()); }

file_descriptor listen_for_askers(std::string_view job, std::string_view who) {
  file_descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un own;
  const socklen_t length = address_of(roll_socket_name(job, who), own);
  if (made && (::bind(made.get(), reinterpret_cast<const sockaddr*>(&own), length) != 0 ||
               ::listen(made.get(), SOMAXCONN) != 0))
    made.reset();
  return made;
}

file_descriptor accept_asker(const file_descriptor& listener) {
  file_descriptor came(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (came) {
    const uid_t uid = other_end(came).uid;
    if (uid != 0 && uid != ::getuid()) came.reset();
  }
  return came;
}

std::string ask(const roll_socket& whom, std::chrono::milliseconds patience) {
  std::vector<conversation> one;
  one.emplace_back(whom);
  hold(one, clock_type::now() + patience);
  return one[0].over ? one[0].text : std::string();
}

std::vector<roll_process> ask_all(const std::vector<roll_socket>& sockets, std::chrono::milliseconds patience) {
  std::vector<conversation> all;
  for (const roll_socket& each : sockets) all.emplace_back(each);
  hold(all, clock_type::now() + patience);
  std::vector<roll_process> roll;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].pid == 0) continue;  // it has ended since, or is somebody else's
    if (!all[i].over && all[i].text.empty()) {
      roll.push_back(silent_process(sockets[i], all[i].pid));
      continue;
    }
    try {
      for (roll_process& each : parse_roll(all[i].text)) {
        each.pid = all[i].pid;  // as this process sees it
        for (roll_rank& rank : each.ranks) rank.state = state_of(each.pid, rank.thread);
        roll.push_back(std::move(each));
      }
    } catch (const error& failure) {
      roll_process wrong = silent_process(sockets[i], all[i].pid);
      wrong.problems.emplace_back(failure.what());
      roll.push_back(std::move(wrong));
    }
  }
  std::ranges::stable_sort(roll, {}, &roll_process::number);
  return roll;
}

char state_of(pid_t process, pid_t thread) {
  const std::string stat = contents("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && name_end + 2 < stat.size() ? stat[name_end + 2] : '?';
}

}  // namespace weft::tools
