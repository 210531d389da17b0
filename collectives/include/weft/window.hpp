// SPDX-License-Identifier: Apache-2.0
// One-sided communication: ranks read and write memory of other ranks, which make no call for that.
//
//   weft::window<double> halo(world, 2 * n);       // every rank: 2 n elements that all ranks may use
//   halo.put_notify(right, 0, edge, 0);            // into the right neighbour's memory, and tell it by its slot 0
//   halo.wait_notified(0);                         // the left neighbour's edge is in halo.local()
//
// Where a rank's memory is shared with the caller (ranks of its process, and of its node), a call is loads and stores
// there: no system call, no allocation, no lock. Elsewhere it is messages: the rank's process carries them out while it
// polls, that is while it waits in a call of weft's, or, with a progress thread (the option `progress`), at any time.
// Atomic operations by both ways are atomic to each other.
//
// What is in memory, and when: a put has taken place, and what a get reads is there, once the caller has flushed the
// rank (`flush`, `flush_all`, `unlock`, `unlock_all`, `fence`). Until then, or until the caller has heard that the rank
// has seen it, `data` of a put stays as it is; until then `into` of a get is not used. Before that puts of one caller
// take place in any order, and may not have begun. The rank itself sees a put in `local()` once it knows of it: by
// `wait_notified` for that put or a later one of the same caller, behind a `fence` that both have called, by `lock` of
// its own memory behind the caller's `unlock`, or by any message or collective of the caller's behind its flush. The
// same holds the other way: the rank writes its `local()` first, then lets others know, and these get. Who reads
// elements that others write at the same time gets anything.
//
// Any fiber or thread of the rank may call what does not say otherwise. Ranks and offsets that are not there throw
// errc::invalid_rank and errc::invalid_count, which says which there are; nothing has been done then. Blocking calls
// park the fiber, throw peer_lost once a rank of the window is lost, and end where a weft::deadline is over (timed_out:
// what was begun goes on, and a later flush waits for it; a lock that comes later is given back). A call that throws
// what the window has failed with leaves no buffer in use.
#pragma once

#include <weft/api.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <weft/communicator.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/window_atomics.hpp>

namespace weft {

/// Who else may hold a rank's lock meanwhile.
enum class lock_mode : bool { shared, exclusive };

namespace detail {

class window_state;

/// In front of each rank's elements, in memory that the others may share.
struct alignas(128) window_control {
  static constexpr std::uint32_t exclusive = std::uint32_t{1} << 31;
  std::atomic<std::uint32_t> lock{0};  ///< `exclusive`, or how many share it
};
/// Behind that: where puts are notified.
struct alignas(64) window_slot {
  std::atomic<std::uint32_t> notified{0};  ///< puts so far, modulo 2^32; a futex
  std::atomic<std::uint32_t> asleep{0};    ///< the rank sleeps until there are more
};

/// A rank of a window, as a process sees it.
struct window_target {
  std::byte* elements = nullptr;  ///< null: it is reached by messages
  window_control* control = nullptr;
  std::size_t count = 0;  ///< elements

  window_slot& slot(std::size_t number) const noexcept { return reinterpret_cast<window_slot*>(control + 1)[number]; }
};

/// As std::memcpy: a few bytes by two loads and stores that may overlap, since the call takes as long as they do.
inline void copy_elements(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const auto by_two = [&]<class Word>(Word) {
    Word first, last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + bytes - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + bytes - sizeof last, &last, sizeof last);
  };
  if (bytes >= 8 && bytes <= 16) return by_two(std::uint64_t{});
  if (bytes > 16) return copy_bytes(to, from, bytes);
  if (bytes >= 4) return by_two(std::uint32_t{});
  for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

/// A window without its type. Positions and lengths are in elements.
class WEFT_API window_base {
 public:
  window_base(communicator& of, const window_type& type, std::size_t count, std::size_t slots);
  window_base(window_base&& other) noexcept;
  window_base& operator=(window_base&& other) noexcept;
  ~window_base();

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::size_t slots() const noexcept { return slots_; }
  std::byte* local() const noexcept { return local_; }

  const window_target& find(const char* operation, int rank) const {
    if (rank < 0 || rank >= size_) [[unlikely]]
      refuse_rank(operation, rank);
    return targets_[rank];
  }
  const window_target& find(const char* operation, int rank, std::size_t offset, std::size_t count) const {
    const window_target& found = find(operation, rank);
    if (offset > found.count || count > found.count - offset) [[unlikely]]
      refuse_place(operation, rank, offset, count);
    return found;
  }
  void check_slot(const char* operation, std::size_t slot) const {
    if (slot >= slots_) [[unlikely]]
      refuse_slot(operation, slot);
  }

  static void notify_near(const window_target& rank, std::size_t slot) noexcept {
    window_slot& its = rank.slot(slot);
    // seq_cst: release for the data, as wait_notified() acquires; and between this and the look, see there.
    its.notified.fetch_add(1);
    if (its.asleep.load() != 0) [[unlikely]]
      wake(its);
  }

  // By messages.
  void put_far(int rank, std::size_t offset, std::span<const std::byte> data);
  void get_far(int rank, std::size_t offset, std::span<std::byte> into);
  void accumulate_far(int rank, std::size_t offset, std::span<const std::byte> operands, window_operator by);
  void fetch_far(int rank, std::size_t offset, const std::byte* operand, window_operator by, std::byte* before);
  void compare_far(int rank, std::size_t offset, const std::byte* expected, const std::byte* desired,
                   std::byte* before);
  void notify_far(int rank, std::size_t slot);

  std::size_t count_at(int rank) const { return find("count", rank).count; }
  bool shares(int rank) const { return find("shares", rank).elements != nullptr; }
  void wait_notified(std::size_t slot, std::uint32_t count);
  void flush(int rank);
  void flush_all();
  void fence();
  void lock(int rank, lock_mode mode);
  void unlock(int rank, lock_mode mode);
  void lock_all();
  void unlock_all();

 private:
  [[noreturn]] void refuse_rank(const char* operation, int rank) const;
  [[noreturn]] void refuse_place(const char* operation, int rank, std::size_t offset, std::size_t count) const;
  [[noreturn]] void refuse_slot(const char* operation, std::size_t slot) const;
  static void wake(window_slot& slot) noexcept;
  void give_up() noexcept;
  void give_back_below(int rank);

  const window_target* targets_ = nullptr;
  int size_ = 0, rank_ = 0;
  std::size_t slots_ = 0;
  std::byte* local_ = nullptr;
  communicator own_;
  std::unique_ptr<window_state> state_;
};

}  // namespace detail

/// Memory of every rank of a communicator, for all of them. Moves; a window that was moved from is only destroyed.
template <carriable T>
class window {
  static_assert(alignof(T) <= 128, "weft: memory of windows is aligned to 128 bytes");

 public:
  /// Collective over `of`, blocking. This rank's memory has `count` elements, value-initialised (numbers are 0), and
  /// `slots` counters of notified puts, as many on every rank; counts may differ. The memory is shared with the node
  /// (runtime::allocate). Throws on all ranks alike: mismatched_call where the elements' sizes or `slots` differ,
  /// operation_failed where a rank has no memory.
  explicit window(communicator& of, std::size_t count, std::size_t slots = 16)
      : base_(of, detail::window_type_of<T>, count, slots) {}
  window(window&&) noexcept = default;
  window& operator=(window&&) noexcept = default;
  /// Collective, blocking, as a fence: no rank's memory goes before all ranks have come here. But where an exception is
  /// unwinding, or a rank is lost, it waits for nobody: the window's calls of all other ranks throw errc::revoked, and
  /// as these may still write it the memory stays until the runtime ends.
  ~window() = default;

  int rank() const noexcept { return base_.rank(); }
  int size() const noexcept { return base_.size(); }
  /// Counters of notified puts of every rank.
  std::size_t slots() const noexcept { return base_.slots(); }
  /// Elements of a rank.
  std::size_t count(int rank) const { return base_.count_at(rank); }
  /// Whether this rank uses that rank's memory by loads and stores; else by messages.
  bool shares(int rank) const { return base_.shares(rank); }
  /// This rank's elements; they lie there as long as the window lives.
  std::span<T> local() const noexcept {
    return {reinterpret_cast<T*>(base_.local()), base_.size() == 0 ? 0 : base_.count_at(base_.rank())};
  }

  // `offset` counts elements of that rank's memory. These do not wait for the rank (put, get and accumulate by messages
  // do where too much is on its way).

  /// Copies `data` there.
  template <message_range R>
  requires std::same_as<std::ranges::range_value_t<R>, T>
  void put(int rank, std::size_t offset, const R& data) {
    const auto bytes = detail::bytes_of(data);
    const detail::window_target& to = base_.find("put", rank, offset, bytes.size() / sizeof(T));
    if (to.elements == nullptr) [[unlikely]]
      return base_.put_far(rank, offset, bytes);
    detail::copy_elements(to.elements + offset * sizeof(T), bytes.data(), bytes.size());
  }
  /// Copies as many elements from there as `into` has.
  template <message_range R>
  requires std::same_as<std::ranges::range_value_t<R>, T>
  void get(int rank, std::size_t offset, R&& into) {
    const auto bytes = detail::writable_bytes_of(into);
    const detail::window_target& from = base_.find("get", rank, offset, bytes.size() / sizeof(T));
    if (from.elements == nullptr) [[unlikely]]
      return base_.get_far(rank, offset, bytes);
    detail::copy_elements(bytes.data(), from.elements + offset * sizeof(T), bytes.size());
  }

  /// As `put`, and counts it in slot `slot` of that rank once it, and all puts before it of this thread, are there.
  template <message_range R>
  requires std::same_as<std::ranges::range_value_t<R>, T>
  void put_notify(int rank, std::size_t offset, const R& data, std::size_t slot) {
    base_.check_slot("put_notify", slot);
    put(rank, offset, data);
    const detail::window_target& to = base_.find("put_notify", rank);
    if (to.elements == nullptr) [[unlikely]]
      return base_.notify_far(rank, slot);
    base_.notify_near(to, slot);
  }
  /// Blocks until `count` more puts have been notified in this rank's slot than earlier calls have waited for. One
  /// waits for a slot at a time.
  void wait_notified(std::size_t slot, std::uint32_t count = 1) { base_.wait_notified(slot, count); }

  // Atomic: each element in one step, also where several ranks do so at the same time. Elements are integers of up to
  // 64 bits, bool, float or double; operators are the built-in ones that they have (operators.hpp), and `replace`.

  /// Combines the elements there with `data`, one by one.
  template <message_range R, class Operator>
  requires std::same_as<std::ranges::range_value_t<R>, T> && combines_atomically<Operator, T>
  void accumulate(int rank, std::size_t offset, const R& data, Operator) {
    constexpr detail::window_operator by = detail::number_of<Operator>;
    const std::span<const T> operands(std::ranges::data(data), std::ranges::size(data));
    const detail::window_target& at = base_.find("accumulate", rank, offset, operands.size());
    if (at.elements == nullptr) [[unlikely]]
      return base_.accumulate_far(rank, offset, std::as_bytes(operands), by);
    T* element = element_of(at, offset);
    for (const T& operand : operands) detail::combine_atomically<by>(*element++, operand);
  }
  /// Combines the element there with `value`; what it was before. Blocks.
  template <class Operator>
  requires combines_atomically<Operator, T> T fetch_and_op(int rank, std::size_t offset, T value, Operator) {
    constexpr detail::window_operator by = detail::number_of<Operator>;
    const detail::window_target& at = base_.find("fetch_and_op", rank, offset, 1);
    if (at.elements != nullptr) [[likely]]
      return detail::combine_atomically<by>(*element_of(at, offset), value);
    T before;
    base_.fetch_far(rank, offset, reinterpret_cast<const std::byte*>(&value), by,
                    reinterpret_cast<std::byte*>(&before));
    return before;
  }
  /// Makes the element there `desired` if it is `expected`, bit by bit; what it was before. Blocks.
  T compare_and_swap(int rank, std::size_t offset, T expected, T desired) requires atomic_element<T> {
    const detail::window_target& at = base_.find("compare_and_swap", rank, offset, 1);
    if (at.elements != nullptr) [[likely]]
      return detail::compare_and_swap_atomically(*element_of(at, offset), expected, desired);
    T before;
    base_.compare_far(rank, offset, reinterpret_cast<const std::byte*>(&expected),
                      reinterpret_cast<const std::byte*>(&desired), reinterpret_cast<std::byte*>(&before));
    return before;
  }

  /// Blocks until what this rank has begun at that rank, at all ranks, has taken place.
  void flush(int rank) { base_.flush(rank); }
  void flush_all() { base_.flush_all(); }
  /// Collective, blocking: what all ranks have begun has taken place, and all see it.
  void fence() { base_.fence(); }

  /// Blocks until this rank holds that rank's lock: alone, or with others that share it. In no order of arrival, and
  /// not again while it holds it. The memory can be used without it: it excludes who locks, too. The lock of a rank
  /// that is lost stays with it.
  void lock(int rank, lock_mode mode = lock_mode::exclusive) { base_.lock(rank, mode); }
  /// Flushes the rank, and gives back its lock of that mode. Blocks.
  void unlock(int rank, lock_mode mode = lock_mode::exclusive) { base_.unlock(rank, mode); }
  /// The same for the locks of all ranks, shared, one after the other.
  void lock_all() { base_.lock_all(); }
  void unlock_all() { base_.unlock_all(); }

 private:
  static T* element_of(const detail::window_target& at, std::size_t offset) noexcept {
    return reinterpret_cast<T*>(at.elements) + offset;
  }
  detail::window_base base_;
};

}  // namespace weft
