// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <string>
#include <weft/runtime/error.hpp>
#include <weft/runtime/thread.hpp>

namespace weft {
namespace {

class attributes {
 public:
  attributes() noexcept { ::pthread_attr_init(&its_); }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;
  ~attributes() { ::pthread_attr_destroy(&its_); }

  void want_stack(std::size_t least) noexcept {
    std::size_t by_default = 0;
    ::pthread_attr_getstacksize(&its_, &by_default);
    ::pthread_attr_setstacksize(&its_, std::max(by_default, least));
  }
  const pthread_attr_t* get() const noexcept { return &its_; }

 private:
  pthread_attr_t its_;
};

}  // namespace

void* thread::main(void* its) noexcept {
  const std::unique_ptr<task> mine(static_cast<task*>(its));
  mine->run();
  return nullptr;
}

void thread::start(const char* name, std::unique_ptr<task> what) {
  attributes wanted;
  wanted.want_stack(least_stack);
  if (const int failed = ::pthread_create(&id_, wanted.get(), main, what.get()); failed != 0)
    throw_system_error(failed, "pthread_create", std::string("starting the thread ") + name);
  static_cast<void>(what.release());  // the thread's
  joinable_ = true;
  ::pthread_setname_np(id_, name);
}

void thread::join() noexcept {
  if (std::exchange(joinable_, false)) ::pthread_join(id_, nullptr);
}

void thread::detach() noexcept {
  if (std::exchange(joinable_, false)) ::pthread_detach(id_);
}

}  // namespace weft
