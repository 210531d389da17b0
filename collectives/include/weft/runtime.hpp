// SPDX-License-Identifier: Apache-2.0
// One process's membership in a job.
#pragma once

#include <weft/api.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <weft/communicator.hpp>
#include <weft/mutex.hpp>
#include <weft/node_memory.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/launch_description.hpp>
#include <weft/statistics.hpp>

namespace weft {

namespace detail {
struct membership;
struct runtime_state;
progress& moved_by(runtime& of) noexcept;
}  // namespace detail

/// Joins the job when it is made and leaves it when it is destroyed, together with the others. Not a global: several
/// may live in one process, each a process of a job of its own (or, in tests, of the same job).
class WEFT_API runtime {
 public:
  /// Joins the job that the launcher started this process for; a job of one where there is no launcher. `--weft-*`
  /// arguments are taken out of argc and argv. Blocks until every process of the job has joined. Throws weft::error:
  /// invalid options, a launcher that does not answer, no usable provider, an incompatible build among the others, no
  /// memory (ENOMEM, and which limit that may be; std::bad_alloc where there is none for the message).
  runtime(int& argc, char** argv);
  /// Joins a job that no launcher started, as `job` describes it. Else as above.
  explicit runtime(launch_description job);
  /// Joins a job by what `member` brings along (see membership.hpp): for tests and launchers.
  explicit runtime(detail::membership member);
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  /// Blocks until every process of the job gets here; not while an exception unwinds: then the others are told of a
  /// loss.
  ~runtime();

  /// All ranks of the job but the spares. Throws errc::invalid_argument on a spare, and in a process that hosts several
  /// ranks: there, use `run`.
  communicator& world();

  /// Calls `program` once for each rank of this process, each on a fiber of its own. Returns when all calls have, and
  /// then throws the first of their exceptions. The fibers run on as many threads as the option `workers` says, the
  /// calling one among them; a rank stays on its thread, and the program guards what its ranks share. A spare (the
  /// option `spares`) waits until it gets a rank (communicator::grow), and its program that communicator; where no rank
  /// is left that could call that, it is not called. Blocking; call it from a plain thread. Throws
  /// errc::invalid_argument where another `run` has not returned: then nothing is done.
  void run(const std::function<void(communicator& world)>& program);

  /// An array of `count` elements, value-initialised, in memory that the processes of the node share. Collectives with
  /// all buffers there, or in parts of such arrays, combine or copy in place, straight from every process's input into
  /// every process's output; but for short vectors that is some times as fast. The array's pages are taken in full, and
  /// cleared, on the NUMA node of the calling thread. It is ordinary memory where the node has no such memory, or no
  /// more of it, which is said once. The array may outlive the runtime; see node_memory.hpp, which also has an
  /// allocator for containers. Any thread. Throws std::bad_alloc, errc::out_of_memory (memory-limit).
  template <carriable T>
  node_array<T> allocate(std::size_t count) {
    return {node_allocator<T>(*this), count};
  }

  /// What the ranks of this process have done so far, in numbers; the option `statistics` has the whole job's told at
  /// its end. Any thread. Does not block for long.
  weft::statistics statistics() const noexcept;

  // For work of the program's own while its ranks wait. An event (runtime/event.hpp) tells a waiting fiber or thread
  // that it is done; mutex.hpp has locks. What blocks otherwise, as std::mutex, std::thread::join and read do, stops
  // all ranks of its thread: for ever where it waits for one of them. Any fiber or thread, unless they say otherwise.

  /// Makes a fiber that calls `function`, on the thread of the fiber that calls this; both take turns where one waits
  /// or yields. `run` returns when it has ended, too. Where an exception leaves it, `run` throws that in the end, and
  /// the ranks of this process and those that need them throw errc::operation_failed. Throws errc::invalid_argument
  /// outside of `run`.
  void spawn(std::function<void()> function);
  /// Polls the network once and lets other fibers of this thread run, or other threads. Work that goes on for long
  /// calls it now and then, since fibers change nowhere else.
  void yield();
  /// Blocks for so long.
  void sleep(std::chrono::nanoseconds time);
  /// Blocks until `awaited` is set.
  void wait(event& awaited);
  /// Calls `function()` on a thread of its own and blocks until it has returned; returns or throws what that does. For
  /// what blocks otherwise than by weft: meanwhile the other ranks of this thread go on. `function` makes no calls of
  /// weft's. Throws a system error where there is no thread to be had.
  template <class Function>
  std::invoke_result_t<Function&> blocking(Function&& function) {
    using result = std::invoke_result_t<Function&>;
    static_assert(!std::is_reference_v<result>, "weft: blocking(f): f returns a value, or nothing");
    std::exception_ptr failure;
    std::conditional_t<std::is_void_v<result>, std::optional<bool>, std::optional<result>> value;
    run_elsewhere([&] {
      try {
        if constexpr (std::is_void_v<result>)
          function();
        else
          value.emplace(function());
      } catch (...) {
        failure = std::current_exception();
      }
    });
    if (failure != nullptr) std::rethrow_exception(failure);
    if constexpr (!std::is_void_v<result>) return std::move(*value);
  }

 private:
  friend std::shared_ptr<detail::node_memory> detail::memory_of(runtime& of) noexcept;
  friend progress& detail::moved_by(runtime& of) noexcept;
  void run_elsewhere(const std::function<void()>& function);
  std::unique_ptr<detail::runtime_state> state_;
};

}  // namespace weft
