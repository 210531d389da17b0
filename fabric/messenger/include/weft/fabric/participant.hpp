// SPDX-License-Identifier: Apache-2.0
// One rank of one communicator, as the messenger knows it.
#pragma once

#include <array>
#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <weft/fabric/group.hpp>
#include <weft/fabric/operation.hpp>

namespace weft::fabric {

struct room;

/// Who is told when a participant has failed, with the token held; must not block. Perhaps several times.
class failure_listener {
 public:
  virtual void failed() noexcept = 0;

 protected:
  ~failure_listener() = default;
};

/// The collectives that a rank took part in without messages of its own: written by that rank, for whoever has a
/// message of another collective for it. It may have left several before another rank comes to the first of them. Of
/// ranks of one process none leaves such a call before all have come to it: there the latest is enough.
class silent_calls {
 public:
  explicit silent_calls(bool in_one_process) : several_(in_one_process ? nullptr : std::make_unique<calls>()) {}

  void enter(std::uint32_t sequence, std::uint64_t fingerprint) noexcept {
    call& its = several_ != nullptr ? (*several_)[sequence % kept] : latest_;
    // release, all three: who sees one of these writes sees those before it; so who finds this fingerprint does not
    // then find the sequence of the call before.
    its.sequence.store(none, std::memory_order_release);
    its.fingerprint.store(fingerprint, std::memory_order_release);
    its.sequence.store(sequence, std::memory_order_release);
  }
  /// The fingerprint of number `sequence`, if that is one of the latest.
  std::optional<std::uint64_t> find(std::uint32_t sequence) const noexcept {
    const call& its = several_ != nullptr ? (*several_)[sequence % kept] : latest_;
    // acquire: each pairs with the release of what it found, and comes before the look behind it. Where the sequence is
    // the same in both, the fingerprint between them is its own.
    if (its.sequence.load(std::memory_order_acquire) != sequence) return std::nullopt;
    const std::uint64_t found = its.fingerprint.load(std::memory_order_acquire);
    if (its.sequence.load(std::memory_order_acquire) != sequence) return std::nullopt;
    return found;
  }

 private:
  static constexpr std::size_t kept = 64;                   // as of begun_collectives
  static constexpr std::uint32_t none = ~std::uint32_t{0};  // is no collective's: those of plans begin at 1 above 2^31
  struct call {
    std::atomic<std::uint32_t> sequence{none};
    std::atomic<std::uint64_t> fingerprint{0};
  };
  using calls = std::array<call, kept>;

  const std::unique_ptr<calls> several_;
  call latest_;
};

/// The collectives that a rank began last with messages, by sequence: what it must agree on with the others. They take
/// memory from the first one on, since ranks that meet in memory begin none.
class begun_collectives {
 public:
  /// The next to be noted takes no more memory. Throws std::bad_alloc.
  void reserve() {
    if (latest_ == nullptr) latest_ = std::make_unique<calls>();
  }
  /// Whether it has not been noted before. Without memory it is not noted: others are then not found to disagree with
  /// it.
  bool note(std::uint32_t sequence, std::uint64_t fingerprint) noexcept {
    if (find(sequence)) return false;
    if (latest_ == nullptr) latest_.reset(new (std::nothrow) calls{});
    if (latest_ != nullptr) (*latest_)[sequence % kept] = {sequence, true, fingerprint};
    return true;
  }
  /// The fingerprint of number `sequence`, if that is one of the latest.
  std::optional<std::uint64_t> find(std::uint32_t sequence) const noexcept {
    if (latest_ == nullptr) return std::nullopt;
    const call& its = (*latest_)[sequence % kept];
    return its.valid && its.sequence == sequence ? std::optional(its.fingerprint) : std::nullopt;
  }

 private:
  static constexpr std::size_t kept = 64;
  struct call {
    std::uint32_t sequence = 0;
    bool valid = false;
    std::uint64_t fingerprint = 0;
  };
  using calls = std::array<call, kept>;

  std::unique_ptr<calls> latest_;
};

/// Made by a communicator for its rank in this process, and known to the messenger from `join` to `leave`.
class participant {
 public:
  participant(std::shared_ptr<const group> all, int rank, bool in_one_process = false)
      : members(std::move(all)), rank(rank), silent(in_one_process) {}
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;

  const std::shared_ptr<const group> members;
  const int rank;
  failure_listener* told = nullptr;  ///< of `failure`; set before `messenger::join`
  /// The number of the collective that it would have begun next; set before `messenger::leave`, by the rank. Those from
  /// there on are missing a rank, though others of its process may still be there. None: not known.
  std::optional<std::uint32_t> next_collective;
  silent_calls silent;
  /// Operations that it has begun, and those that have ended. Any thread may read it; written with the token held.
  std::atomic<std::uint64_t> moves{0};

  void count_move() noexcept {
    // relaxed: it is only compared. Not lost, since the token is held.
    moves.store(moves.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // The messenger's, under its token.
  room* here = nullptr;         ///< what waits for it
  std::exception_ptr failure;   ///< once set, every operation ends with it
  bool failed_alone = false;    ///< and the other ranks do not hear of it by themselves
  bool agrees_no_more = false;  ///< it takes part in no agreement that it has not begun
  /// What it has last probed for in vain.
  struct {
    bool waits = false;  ///< since the latest look
    int source = -1;
    std::uint8_t inquiries = 0;  ///< as of an operation
    std::exception_ptr failure;  ///< what the next probe for
    int gone = -1;               ///< that rank throws
  } probed;
  begun_collectives begun;
  boost::intrusive::list<
      operation, boost::intrusive::member_hook<operation, boost::intrusive::list_member_hook<>, &operation::active>,
      boost::intrusive::constant_time_size<false>>
      active;
};

}  // namespace weft::fabric
