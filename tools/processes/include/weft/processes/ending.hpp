// How a process ended.
#pragma once

#include <string>

namespace weft::tools {

struct ending {
  bool by_signal = false;
  bool dumped_core = false;
  int number = 0;  ///< of the signal, or the exit status

  bool failed() const noexcept { return by_signal || number != 0; }
  int exit_status() const noexcept { return by_signal ? 128 + number : number; }  ///< as shells have it
};

/// "was killed by signal 9, SIGKILL (Killed)" or "exited with status 3".
std::string describe(const ending& end);

}  // namespace weft::tools
