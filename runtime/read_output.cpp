#include "read_output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace weft {

void let_output_be_read() noexcept {
  for (int looks = 0; looks < 100; ++looks) {
    int unread = 0;
    bool all_read = true;
    for (const int output : {STDOUT_FILENO, STDERR_FILENO})
      all_read = all_read && (::ioctl(output, FIONREAD, &unread) != 0 || unread == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(all_read ? 20 : 1));  // to hand it on
    if (all_read) return;
  }
}

}  // namespace weft
