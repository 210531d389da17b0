// SPDX-License-Identifier: Apache-2.0
// Answers whoever asks a `weft run` for the roll of its job.
#pragma once

#include <list>
#include <string>
#include <weft/processes/job_processes.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>

namespace weft::tools {

class roll_desk {
 public:
  /// `job` as sockets have it. Where there can be no socket nobody can ask.
  roll_desk(event_loop& loop, job_processes& processes, std::string_view job);
  roll_desk(const roll_desk&) = delete;
  roll_desk& operator=(const roll_desk&) = delete;
  ~roll_desk();

 private:
  struct asker {
    file_descriptor socket;
    std::string text;
    std::size_t sent = 0;
  };

  void receive();
  void tell(std::list<asker>::iterator whom);
  void dismiss(std::list<asker>::iterator whom);

  event_loop& loop_;
  job_processes& processes_;
  file_descriptor listener_;
  std::list<asker> askers_;
};

}  // namespace weft::tools
