// SPDX-License-Identifier: Apache-2.0
// What the threads and ranks of a process do, and when: kept in memory of a fixed size until the end of the job.
//
//     recorder        of a runtime
//       track         of a rank, a worker, the progress thread: a ring of records, which one thread at a time writes
//         record      what it did, from when to when
//
// Who records needs a current track: calls take that of their rank (`on_track_of_call`), fibers bring theirs along
// (`fiber::set_track`). Without one nothing is recorded, which costs a look at a thread's own word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>
#include <weft/runtime/memory_budget.hpp>
#include <weft/runtime/ticks.hpp>

namespace weft::trace {

enum class kind : std::uint8_t { call, step, transfer, wait, kernel, sleep };
/// How a call is made.
enum class form : std::uint8_t { none, blocking, started, planned };
/// How it goes: in the memory of a node, of a process, or by messages.
enum class road : std::uint8_t { none, node, process, messages };

/// As long as a cache line. Names are constants.
struct record {
  ticks begin = 0, end = 0;
  const char* name = nullptr;
  const char* detail = nullptr;  ///< a call's algorithm, a kernel's type; null: not known
  std::uint64_t communicator = no_communicator;  ///< of a kernel: its address; 0: an operator of the caller's
  std::uint64_t bytes = 0;
  std::uint32_t number = no_number;  ///< a collective's sequence; of a message's tag the lower half
  std::int32_t peer = nobody;        ///< rank in the job
  union {
    float predicted = 0;      ///< seconds; 0: nothing was
    std::uint32_t tag_above;  ///< of a message's tag the upper half
  };
  kind what = kind::call;
  form made : 3 = form::none;
  road by : 3 = road::none;
  bool tagged : 1 = false;    ///< a message whose tag is known
  bool overlaps : 1 = false;  ///< it may begin or end in the middle of others of its track
  std::uint16_t owner = 0;    ///< of whose track it is, 1 and more: the process's rank of that number less 1; 0: this

  static constexpr std::uint64_t no_communicator = ~std::uint64_t{0};
  static constexpr std::uint32_t no_number = ~std::uint32_t{0};
  static constexpr std::int32_t nobody = -1;

  void set_tag(std::uint64_t tag) noexcept {
    tagged = true;
    number = static_cast<std::uint32_t>(tag);
    tag_above = static_cast<std::uint32_t>(tag >> 32);
  }
  /// Where it is tagged.
  std::uint64_t tag() const noexcept { return std::uint64_t{tag_above} << 32 | number; }
};
static_assert(sizeof(record) == 64);

class recorder;

/// The latest records of one flow of control. Written by one thread at a time; read once nobody writes any more.
class track {
 public:
  /// Of `records`, a power of two.
  track(const recorder& of, std::string name, int rank, std::size_t records, memory_charge charge);
  track(const track&) = delete;
  track& operator=(const track&) = delete;

  /// The record that is written next. It counts once `add` is called.
  record& next() noexcept { return ring_[written_ & mask_]; }
  void add() noexcept {
    ++written_;
    __builtin_prefetch(&next(), 1);  // by the time it is written it is here
  }
  void add(const record& one) noexcept {
    next() = one;
    add();
  }

  const recorder& of() const noexcept { return of_; }
  const std::string& name() const noexcept { return name_; }
  int rank() const noexcept { return rank_; }  ///< in the job; -1: none
  std::size_t kept() const noexcept { return written_ <= mask_ ? static_cast<std::size_t>(written_) : mask_ + 1; }
  std::uint64_t dropped() const noexcept { return written_ - kept(); }
  /// The oldest first.
  const record& at(std::size_t i) const noexcept { return ring_[(written_ - kept() + i) & mask_]; }

 private:
  const recorder& of_;
  const std::string name_;
  const int rank_;
  const memory_charge charge_;
  struct alignas(sizeof(record)) line : record {};

  const std::uint64_t mask_;
  std::unique_ptr<line[]> ring_;
  std::uint64_t written_ = 0;
};

/// Its own thread's, or the running fiber's.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local track* current_track;

/// Records a wait for that rank of the job which began then and ends now, unless that is 0: now.
ticks note_wait(ticks since, int peer) noexcept;
/// When one begins; 0: nothing is recorded.
inline ticks begin_wait() noexcept { return current_track != nullptr ? ticks_now() : 0; }

/// Where a call that waits in memory leaves its times, so that nobody waits for it to read the clock: it begins once
/// what it shows is out, and ends at its last look for what it awaits.
struct marks {
  ticks begun = 0;   ///< 0: not yet
  ticks waits = 0;   ///< since then; from the end of a wait that was recorded, or the call's begin
  ticks latest = 0;  ///< look; 0: it has not waited, or for so long that this is not known

  void begin() noexcept {
    if (begun == 0) begun = waits = ticks_now();
  }
};

/// All tracks of a runtime. What is added to the ranks' own is bounded, too.
class recorder {
 public:
  /// Of a process that hosts so many ranks, the first of them `first_rank` of the job. `track_bytes` is the memory of
  /// each track, counted in `memory`. The calling thread is the home of the rank, where there is one. Throws
  /// std::bad_alloc, errc::out_of_memory.
  recorder(int first_rank, int ranks, std::size_t track_bytes, std::shared_ptr<memory_budget> memory = nullptr);
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  int first_rank() const noexcept { return ranks_.front()->rank(); }
  track& of_rank(int local) noexcept { return *ranks_[static_cast<std::size_t>(local)]; }
  /// That of a thread of this name, of which there is one at a time: "progress thread", "worker 1". Any thread. Throws
  /// std::bad_alloc.
  track& of_thread(const std::string& name);
  /// That of a call on the calling thread or fiber: its current one, that of the rank on its home thread, else one
  /// that is lent until `give_back`; null where so many are lent that no more may be.
  track* for_call() noexcept {
    if (current_track != nullptr && &current_track->of() == this) return current_track;
    return home_ == &current_track ? ranks_[0].get() : lend();
  }
  void give_back(track& lent) noexcept;

  /// All of them, ranks first. Once nobody writes any more: those who did have been joined, or have given theirs back.
  std::vector<const track*> all() const;
  const tick_reading& begun() const noexcept { return begun_; }

 private:
  static constexpr std::size_t most_lent = 64;

  track* lend() noexcept;
  std::unique_ptr<track> make(const std::string& name, int rank, memory_use use) const;

  const std::size_t records_;
  const std::shared_ptr<memory_budget> memory_;
  const tick_reading begun_ = read_ticks();
  const void* home_;
  std::vector<std::unique_ptr<track>> ranks_;
  mutable std::mutex lock_;  // guards the next ones
  std::vector<std::unique_ptr<track>> added_, lent_;
  std::vector<track*> free_;
};

/// While it lives a call is made by the calling thread or fiber, whose track is current.
class on_track_of_call {
 public:
  explicit on_track_of_call(recorder& by) noexcept : by_(by), before_(current_track), on_(by.for_call()) {
    current_track = on_;
  }
  on_track_of_call(const on_track_of_call&) = delete;
  on_track_of_call& operator=(const on_track_of_call&) = delete;
  ~on_track_of_call() {
    current_track = before_;
    if (on_ != nullptr && on_ != before_ && on_->rank() < 0) by_.give_back(*on_);
  }

  /// Null: so many threads call that this one is not recorded.
  track* on() const noexcept { return on_; }

 private:
  recorder& by_;
  track* const before_;
  track* const on_;
};

/// The same where anything is recorded, for who polls without a call that is shown.
class on_track_if {
 public:
  explicit on_track_if(recorder* by) noexcept {
    if (by != nullptr) [[unlikely]]
      here_.emplace(*by);
  }

 private:
  std::optional<on_track_of_call> here_;
};

/// What takes less time than it takes to record it is left out: copies and kernels of fewer bytes.
inline constexpr std::size_t least_bytes = 4 << 10;

/// Something within a call, on the current track if there is one: where it ends, if that is of another thread.
class part {
 public:
  part(kind what, const char* name, std::uint64_t bytes = 0, int peer = record::nobody) noexcept
      : is_on_(current_track != nullptr && (what == kind::wait || what == kind::sleep || bytes >= least_bytes)) {
    if (is_on_) [[unlikely]]
      begin(what, name, bytes, peer);
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  ~part() {
    if (is_on_) [[unlikely]]
      end();
  }
  explicit operator bool() const noexcept { return is_on_; }
  record& its() noexcept { return its_; }

 private:
  void begin(kind what, const char* name, std::uint64_t bytes, int peer) noexcept;
  void end() noexcept;

  const bool is_on_;
  union {
    record its_;  // where something is recorded
  };
};

/// The run of a kernel; null: of an operator of the caller's.
class kernel_part : part {
 public:
  template <class... Arguments>
  kernel_part(void (*kernel)(Arguments...), std::uint64_t bytes) noexcept : part(kind::kernel, "kernel", bytes) {
    if (*this) [[unlikely]]
      its().communicator = reinterpret_cast<std::uintptr_t>(kernel);
  }
};

}  // namespace weft::trace
