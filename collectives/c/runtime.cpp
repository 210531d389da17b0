// SPDX-License-Identifier: Apache-2.0
#include <weft/node_memory.hpp>

#include "handles.hpp"

using namespace weft::c;

struct weft_array {
  weft::node_array<std::byte> it;
};

int weft_init(int* argc, char** argv, weft_runtime** runtime) {
  return guarded([&] {
    weft_runtime*& place = at(runtime, "the place of the runtime");
    int none = 0;
    char* nothing[] = {nullptr};
    const bool given = argc != nullptr && argv != nullptr;
    place = new weft_runtime(given ? *argc : none, given ? argv : nothing);
  });
}

int weft_finalize(weft_runtime* runtime) {
  return guarded([&] { delete runtime; });
}

int weft_world(weft_runtime* runtime, weft_comm** world) {
  return guarded([&] {
    weft_runtime& its = at(runtime, "runtime");
    weft_comm*& place = at(world, "the place of the world");
    if (!its.world) its.world.emplace(its.it.world());
    place = &*its.world;
  });
}

int weft_run(weft_runtime* runtime, int (*program)(weft_comm*, void*), void* context) {
  return guarded([&] {
    if (program == nullptr) refuse_null("program");
    at(runtime, "runtime").it.run([&](weft::communicator& world) {
      weft_comm its(world);
      check_callback("the program", program(&its, context));
    });
  });
}

int weft_spawn(weft_runtime* runtime, int (*function)(void*), void* context) {
  return guarded([&] {
    if (function == nullptr) refuse_null("function");
    at(runtime, "runtime").it.spawn([=] { check_callback("the fiber's function", function(context)); });
  });
}

int weft_yield(weft_runtime* runtime) {
  return guarded([&] { at(runtime, "runtime").it.yield(); });
}

int weft_sleep(weft_runtime* runtime, double seconds) {
  return guarded([&] { at(runtime, "runtime").it.sleep(duration_of(seconds)); });
}

int weft_blocking(weft_runtime* runtime, int (*function)(void*), void* context) {
  return guarded([&] {
    if (function == nullptr) refuse_null("function");
    check_callback("the function", at(runtime, "runtime").it.blocking([&] { return function(context); }));
  });
}

struct weft_deadline {
  weft::deadline it;
};

int weft_deadline_begin(double seconds, weft_deadline** deadline) {
  return guarded([&] {
    weft_deadline*& place = at(deadline, "the place of the deadline");
    place = new weft_deadline{weft::deadline(duration_of(seconds))};
  });
}
void weft_deadline_end(weft_deadline* deadline) { delete deadline; }

int weft_array_create(weft_runtime* runtime, size_t bytes, weft_array** array) {
  return give(array, [&] { return at(runtime, "runtime").it.allocate<std::byte>(bytes); });
}
void* weft_array_data(const weft_array* array) {
  return array != nullptr ? const_cast<std::byte*>(array->it.data()) : nullptr;
}
void weft_array_free(weft_array* array) { delete array; }

struct weft_mutex {
  weft::mutex it;
};
struct weft_condition {
  weft::condition_variable it;
};

namespace {

/// Calls `wait` with the caller's mutex, which it holds before and behind.
template <class Wait>
int waiting(weft_condition* condition, weft_mutex* mutex, Wait&& wait) noexcept {
  return guarded([&] {
    weft::condition_variable& its = at(condition, "condition").it;
    std::unique_lock held(at(mutex, "mutex").it, std::adopt_lock);
    struct leave_locked {
      std::unique_lock<weft::mutex>& lock;
      ~leave_locked() { lock.release(); }
    } const leaving{held};
    wait(its, held);
  });
}

}  // namespace

int weft_mutex_create(weft_runtime* runtime, weft_mutex** mutex) {
  return guarded([&] {
    weft_mutex*& place = at(mutex, "the place of the mutex");
    place = new weft_mutex{weft::mutex(at(runtime, "runtime").it)};
  });
}
int weft_mutex_lock(weft_mutex* mutex) {
  return guarded([&] { at(mutex, "mutex").it.lock(); });
}
int weft_mutex_try_lock(weft_mutex* mutex, int* locked) {
  return guarded([&] { at(locked, "locked") = at(mutex, "mutex").it.try_lock(); });
}
void weft_mutex_unlock(weft_mutex* mutex) {
  if (mutex != nullptr) mutex->it.unlock();
}
void weft_mutex_free(weft_mutex* mutex) { delete mutex; }

int weft_condition_create(weft_runtime* runtime, weft_condition** condition) {
  return guarded([&] {
    weft_condition*& place = at(condition, "the place of the condition");
    place = new weft_condition{weft::condition_variable(at(runtime, "runtime").it)};
  });
}
int weft_condition_wait(weft_condition* condition, weft_mutex* mutex) {
  return waiting(condition, mutex, [](auto& its, auto& held) { its.wait(held); });
}
int weft_condition_wait_for(weft_condition* condition, weft_mutex* mutex, double seconds, int* notified) {
  return waiting(condition, mutex, [&](auto& its, auto& held) {
    int& told = at(notified, "notified");
    told = its.wait_until(held, std::chrono::steady_clock::now() + duration_of(seconds));
  });
}
void weft_condition_notify_one(weft_condition* condition) {
  if (condition != nullptr) condition->it.notify_one();
}
void weft_condition_notify_all(weft_condition* condition) {
  if (condition != nullptr) condition->it.notify_all();
}
void weft_condition_free(weft_condition* condition) { delete condition; }
