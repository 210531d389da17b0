#include "descriptor_passing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

constexpr const char* what = "a socket between the processes of this node";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw_system_error(ENAMETOOLONG, "bind", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

file_descriptor open_socket() {
  file_descriptor result(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!result) throw_system_error(errno, "socket", what);
  return result;
}

bool is_of_own_user(const file_descriptor& connection) {
  ucred other{};
  socklen_t length = sizeof other;
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 && other.uid == ::geteuid();
}

/// A directory that only this user can enter, with what is made in it, until it goes.
class short_lived_directory {
 public:
  short_lived_directory() {
    const char* const where = std::getenv("TMPDIR");
    path_ = std::string(where != nullptr && *where == '/' ? where : "/tmp") + "/weft-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw_system_error(errno, "mkdtemp", path_);
  }
  short_lived_directory(const short_lived_directory&) = delete;
  short_lived_directory& operator=(const short_lived_directory&) = delete;
  ~short_lived_directory() {
    ::unlink(inside().c_str());
    ::rmdir(path_.c_str());
  }
  std::string inside() const { return path_ + "/s"; }

 private:
  std::string path_;
};

/// Room for one descriptor beside a message.
union control_room {
  cmsghdr aligned;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

}  // namespace

nameless_listener nameless_listener::open() {
  nameless_listener result;
  const short_lived_directory directory;
  const sockaddr_un address = address_of(directory.inside());
  result.socket_ = open_socket();
  const int bound = result.socket_.get();
  if (::bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw_system_error(errno, "bind", what);
  if (::listen(bound, SOMAXCONN) != 0) throw_system_error(errno, "listen", what);
  if (::fcntl(bound, F_SETFL, O_NONBLOCK) != 0) throw_system_error(errno, "fcntl", what);
  result.place_.reset(::open(address.sun_path, O_PATH | O_CLOEXEC));
  if (!result.place_) throw_system_error(errno, "open", what);
  return result;
}

file_descriptor connect_to_listener(std::int64_t pid, int number) {
  const sockaddr_un address = address_of("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number));
  file_descriptor result = open_socket();
  while (::connect(result.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    if (errno != EINTR) throw_system_error(errno, "connect", what);
  if (!is_of_own_user(result)) throw error(errc::protocol, std::string(what) + " is another user's");
  return result;
}

file_descriptor accept_own_user(const nameless_listener& listener) {
  file_descriptor result(::accept4(listener.socket().get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (result) {
    if (!is_of_own_user(result)) result.reset();
    return result;
  }
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return result;
  throw_system_error(errno, "accept", what);
}

bool send_message(const file_descriptor& to, std::span<const std::byte> message,
                  const file_descriptor* passed) noexcept {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  control_room room{};
  if (passed != nullptr) {
    header.msg_control = &room;
    header.msg_controllen = sizeof room;
    cmsghdr* const control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = passed->get();
    std::memcpy(CMSG_DATA(control), &number, sizeof number);
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(to.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EINTR) {
  }
  return sent == static_cast<ssize_t>(message.size());
}

std::optional<received_message> receive_message(const file_descriptor& from, std::span<std::byte> message) {
  iovec part{message.data(), message.size()};
  control_room room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = &room;
  header.msg_controllen = sizeof room;
  const ssize_t length = ::recvmsg(from.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  received_message result;
  if (length >= 0)
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      int number = -1;
      std::memcpy(&number, CMSG_DATA(each), sizeof number);
      result.passed.reset(number);
    }
  if (length != static_cast<ssize_t>(message.size()) || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    throw error(errc::protocol, std::string(what) + (length <= 0 ? " has been closed" : " brought something else"));
  return result;
}

}  // namespace weft::fabric
