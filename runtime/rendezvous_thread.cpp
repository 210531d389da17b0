// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/rendezvous_thread.hpp>

namespace weft {

rendezvous_thread::rendezvous_thread(tcp_store_server server, std::optional<absence> limit)
    : server_(std::move(server)), limit_(std::move(limit)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) throw_system_error(errno, "eventfd", "serving the job's rendezvous");
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it
  try {
    thread_ = thread("rendezvous", [this] { serve(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

rendezvous_thread::~rendezvous_thread() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void rendezvous_thread::serve() noexcept try {
  for (;;) {
    int patience = -1;
    if (limit_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit_->from - store::clock::now()).count();
      if (left <= 0) {
        miss_absent();
        continue;
      }
      patience = static_cast<int>(std::min<std::int64_t>(left, INT_MAX));
    }
    std::array<pollfd, 2> ready{{{server_.descriptor(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), patience);
    if (ready[1].revents != 0) return;
    server_.serve();
  }
} catch (const std::exception& failure) {
  std::fprintf(stderr, "weft: the job's rendezvous ends: %s\n", failure.what());
}

void rendezvous_thread::miss_absent() {
  for (const int process : server_.absent()) server_.miss(process, limit_->text(process));
  limit_.reset();
}

}  // namespace weft
