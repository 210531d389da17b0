// Where a job's agents come in: listens, and lets in who proves to know the job's secret.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <string>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/timer.hpp>

#include "agent_handshake.hpp"

namespace weft::tools {

class doorkeeper {
 public:
  using welcome = std::function<void(int host, file_descriptor socket)>;

  /// Listens on those of `local` that the system lets it; throws weft::error when that is none. Calls `let_in` for
  /// whoever says to come for a host: whether one is expected for it is for the callee to know. Who has not proved
  /// within a second to belong to the job is dropped, and when there are many such, the oldest of them before that.
  doorkeeper(event_loop& loop, const std::vector<std::string>& local, std::string secret, std::size_t expected,
             welcome let_in);
  ~doorkeeper() { close(); }
  doorkeeper(const doorkeeper&) = delete;
  doorkeeper& operator=(const doorkeeper&) = delete;

  /// What to connect to.
  std::vector<std::string> addresses() const;

  /// Nobody else comes in. Also from within `let_in`.
  void close();

 private:
  struct stranger {
    file_descriptor socket;
    challenge asked = draw_challenge();
    std::array<std::byte, agent_hello_size> hello{};
    std::size_t received = 0;
    event_loop::clock::time_point since = event_loop::clock::now();
  };

  void listen();
  void accept_some(const file_descriptor& listener);
  void take_in(file_descriptor socket);
  void hear(std::list<stranger>::iterator who);
  void drop(std::list<stranger>::iterator who);
  void keep_time();

  event_loop& loop_;
  std::string secret_;
  std::size_t most_strangers_;
  welcome let_in_;
  std::vector<file_descriptor> listeners_;
  std::list<stranger> strangers_;  // the oldest first
  timer proofs_;                   // when the oldest has had its time
  timer deaf_;                     // until there is room for more connections
};

}  // namespace weft::tools
