// SPDX-License-Identifier: Apache-2.0
#include "abort_at_exit.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <weft/runtime/socket.hpp>

#include "bytes.hpp"
#include "call_before.hpp"

namespace weft {
namespace {

struct last_message {
  int descriptor;
  std::string (*text)(int status);
};

constexpr std::chrono::milliseconds flush_limit{100};

/// Exit does so behind its handlers only. Where nobody reads a full pipe it takes for ever.
void flush_output() noexcept {
  try {
    call_before(std::chrono::steady_clock::now() + flush_limit, [] { return std::fflush(stdout); });
  } catch (const std::exception&) {  // no thread for it
  }
}

void send_last(int status, void* argument) {
  const auto* const last = static_cast<last_message*>(argument);
  let_output_be_read();
  const file_descriptor socket(last->descriptor);
  send_now(socket, as_bytes(last->text(status != 0 ? status : EXIT_FAILURE)));
  delete last;
}

}  // namespace

void let_output_be_read() noexcept {
  flush_output();
  for (int looks = 0; looks < 100; ++looks) {
    int unread = 0;
    bool all_read = true;
    for (const int output : {STDOUT_FILENO, STDERR_FILENO})
      all_read = all_read && (::ioctl(output, FIONREAD, &unread) != 0 || unread == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(all_read ? 20 : 1));  // to hand it on
    if (all_read) return;
  }
}

void abort_pmi_at_exit(int descriptor, std::string (*message)(int status)) noexcept {
  ::on_exit(send_last, new (std::nothrow) last_message{descriptor, message});
}

}  // namespace weft
