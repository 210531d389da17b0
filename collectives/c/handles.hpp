// SPDX-License-Identifier: Apache-2.0
// What is behind the pointers of weft.h, and how errors become codes.
#pragma once

#include <weft.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/deadline.hpp>
#include <weft/runtime.hpp>
#include <weft/window.hpp>

struct weft_comm {
  explicit weft_comm(weft::communicator&& made) : own(std::move(made)), it(&*own) {}
  /// One that belongs to a runtime.
  explicit weft_comm(weft::communicator& of) noexcept : it(&of) {}
  std::optional<weft::communicator> own;
  weft::communicator* it;
};

struct weft_runtime {
  weft_runtime(int& argc, char** argv) : it(argc, argv) {}
  weft::runtime it;
  std::optional<weft_comm> world;
};

struct weft_type {
  weft::type it;
};

struct weft_op {
  std::optional<weft::any_operator> it;                       ///< none: of windows alone
  std::optional<weft::detail::window_operator> of_windows{};  ///< none: of collectives alone
};

struct weft_request {
  weft::handle it;
};

struct weft_plan {
  weft::plan it;
};

struct weft_message {
  weft::matched_message it;
};

struct weft_pending_comm {
  weft::pending_communicator it;
};

namespace weft::c {

/// A function of the caller's has returned something else than 0.
struct callback_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void check_callback(const char* which, int returned);

/// What a call has failed with.
struct failure {
  int result = WEFT_OK;
  std::string text;
  std::vector<int> ranks;
  const char* without_memory = nullptr;  ///< in place of the text
};
/// What is being handled.
failure current_failure() noexcept;
/// For weft_error_text and weft_error_ranks of this thread: its result.
int keep(failure&& what) noexcept;

/// Calls `call`: WEFT_OK, or the code of what it throws.
template <class Call>
int guarded(Call&& call) noexcept {
  failure what;
  try {
    call();
    return WEFT_OK;
  } catch (...) {
    what = current_failure();
  }  // where the error goes, and what it still owns is waited for: other fibers of the thread may fail meanwhile
  return keep(std::move(what));
}

[[noreturn]] void refuse_null(const char* what);

/// What a pointer of the caller's points to; throws errc::invalid_argument where it is null.
template <class T>
T& at(T* given, const char* what) {
  if (given == nullptr) refuse_null(what);
  return *given;
}
inline communicator& of(const weft_comm* comm) { return *at(comm, "comm").it; }
inline const type& of(const weft_type* of) { return at(of, "type").it; }
const any_operator& of(const weft_op* op);

inline const_buffer reading(const void* data, std::size_t count, const weft_type* type) {
  return {data, count, of(type)};
}
inline buffer writing(void* data, std::size_t count, const weft_type* type) { return {data, count, of(type)}; }

/// Writes a new handle of what `make` gives, once that is there.
template <class Handle, class Make>
int give(Handle** to, Make&& make) noexcept {
  return guarded([&] {
    Handle*& place = at(to, "the place of the result");
    place = new Handle{make()};
  });
}

inline void tell(weft_status* to, const status& what) noexcept {
  if (to != nullptr) *to = {what.source, what.tag, what.bytes};
}

inline std::chrono::nanoseconds duration_of(double seconds) {
  constexpr double longest = 1e9;  // seconds: a clock has some more
  if (std::isnan(seconds)) throw error(errc::invalid_argument, "a time that is not a number");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, -longest, longest) * 1e9));
}

}  // namespace weft::c
