// SPDX-License-Identifier: Apache-2.0
// The one-sided calls of a rank to ranks whose memory it does not share, and theirs to it.
//
//   put, get, ... -> records, one behind another in a buffer for each rank -> a message, when the buffer is full or
//                    somebody waits
//   a message     -> its records are carried out by whoever polls, with the messenger's token held; what they answer
//                    goes back as records
//
// Contents that do not fit into a message are one of their own, whose number is its tag: the messenger moves it from
// the one memory into the other. Messages between two ranks, and so the records, are in order. A long put may still be
// on its way when the next record has come: notes and answers to flushes wait for those before them.
//
// window_asking.cpp: what a rank asks of others; window_serving.cpp: what others ask of it; window_records.cpp: records
// on their way into messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/window.hpp>

namespace weft::detail {

class window_messages {
 public:
  /// What the others use of this rank's.
  struct served {
    window_target memory;
    std::size_t slots;
    const window_type& type;
  };

  window_messages(communicator_state& own, const served& mine);
  ~window_messages();
  window_messages(const window_messages&) = delete;
  window_messages& operator=(const window_messages&) = delete;

  /// From now on what others ask is carried out.
  void serve();
  /// No longer: nobody asks any more. Blocks until nothing of it is in flight.
  void stop() noexcept;
  /// Blocks until nothing of it is in flight, its communicator having failed.
  void await_end() noexcept;
  /// Blocks until nothing uses memory of the program's any more, its communicator having failed.
  void await_none_open();

  // Offsets are in elements. They block where as much as may be is on its way; throw what the communicator has failed
  // with.
  void put(int rank, std::size_t offset, std::span<const std::byte> data);
  void get(int rank, std::size_t offset, std::span<std::byte> into);
  void accumulate(int rank, std::size_t offset, std::span<const std::byte> operands, window_operator by);
  void notify(int rank, std::size_t slot);
  /// The rank's lock is free from now on; what was flushed before is seen by the next who has it.
  void unlock(int rank, lock_mode mode);

  // These block until they are answered.
  void fetch(int rank, std::size_t offset, const std::byte* operand, window_operator by, std::byte* before);
  void compare(int rank, std::size_t offset, const std::byte* expected, const std::byte* desired, std::byte* before);
  bool try_lock(int rank, lock_mode mode);
  void flush(int rank);
  void flush_all();

 private:
  enum class kind : std::uint8_t {
    put,
    long_put,
    get,
    long_get,
    accumulate,
    fetch,
    compare,
    notify,
    flush,
    lock,
    unlock,
    answer
  };

  /// In front of its contents, which are padded to 8 bytes.
  struct record {
    kind what = kind::answer;
    window_operator by = 0;
    std::uint8_t exclusive = 0;  ///< a lock: 1; or 0: shared
    std::uint8_t unused = 0;
    std::uint32_t bytes = 0;   ///< of its contents
    std::uint64_t offset = 0;  ///< in elements; the slot of a note
    std::uint64_t number = 0;  ///< by which its sender knows the answer; the tag of a long message
    std::uint64_t length = 0;  ///< bytes of a get, or of a long message
  };

  // Tags of the window's communicator: messages of records, and contents that travel by themselves. What a rank has
  // asked for and what it sends unasked are numbered by itself, both.
  static constexpr std::uint64_t records_tag = 0;
  static constexpr std::uint64_t asked_for = std::uint64_t{1} << 62;
  static constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

  // window_operations.hpp
  class message;    // records that are sent
  class standing;   // the receive of such
  class departure;  // contents that are sent,
  class arrival;    // and received by who has asked for them,
  class landing;    // or by whose memory they are for
  class pump;       // who posts all that

  class asking;  // for an answer

  /// A rank that is reached by messages, or reaches this one.
  struct peer {
    message* filling = nullptr;        ///< what its next records go into
    std::size_t announced = 0;         ///< long puts of which the records are in there
    std::uint64_t written = 0;         ///< records that a flush waits for,
    std::uint64_t flushed = 0;         ///< and those of them that it has waited for
    std::atomic<std::size_t> open{0};  ///< long puts, and gets, of this rank's that have not ended
    // Of what it has sent; with the token held:
    std::uint64_t landings = 0;          ///< long puts so far
    std::vector<std::uint64_t> landing;  ///< the numbers, in that order, of those that have not ended
    struct waiting {
      record what;
      std::uint64_t behind;  ///< so many long puts
    };
    std::deque<waiting> waits;  ///< notes and flushes
  };
  struct awaited_answer {
    int rank = -1;  ///< who answers
    std::byte* into = nullptr;
    std::size_t bytes = 0;
    event* done = nullptr;  ///< null: a get, counted in `of`
    peer* of = nullptr;
    std::optional<lock_mode> given_up{};  ///< nobody waits for that lock any more: it is to be given back
  };

  // With `guard_` held:
  peer& peer_of(int rank);
  void write(peer& to, const record& what, std::span<const std::byte> contents = {},
             std::span<const std::byte> more = {}) noexcept;
  bool has_room(const peer& to, std::size_t contents) const noexcept;
  std::unique_ptr<message> take_message(int rank);
  /// What has been written to it is to be sent.
  void close(peer& to) noexcept;
  void queue(fabric::operation& next) noexcept;
  std::uint64_t expect_answer(const awaited_answer& of);
  /// One more record, for who polls to send.
  void append(int rank, const record& what, std::span<const std::byte> contents = {});

  /// Once what has failed uses no memory of the program's.
  [[noreturn]] void throw_failure(const char* operation);
  /// Takes the guard when there is room for a record with such contents to that rank, and, if it `opens` something,
  /// little enough is open there. Blocks; throws.
  std::unique_lock<std::mutex> room(const char* operation, int rank, std::size_t contents, bool opens = false);
  /// Lets the guard go, and sends what is queued.
  void send(std::unique_lock<std::mutex> held);
  void put_long(int rank, std::size_t offset, std::span<const std::byte> data);
  void get_long(int rank, std::size_t offset, std::span<std::byte> into);
  void flush_ranks(const char* operation, std::span<const int> ranks);
  /// Blocks until that is so, as long as deadlines permit: else throws timed_out, which names the rank.
  void await(const char* operation, int rank, const std::function<bool()>& is_so);
  void await_open(const char* operation, std::span<const int> ranks);
  bool has_unflushed(int rank);
  std::size_t open_at(int rank);
  bool none_open();

  // With the token held:
  void send_held() noexcept;
  template <class Part>
  void serve_rank(int source, Part&& part) noexcept;
  void take(int source, std::span<const std::byte> records) noexcept;
  /// False: that cannot be.
  bool carry_out(int source, peer& from, const record& what, const std::byte* contents);
  bool carry_out_now(int source, const record& what);
  static lock_mode mode_of(const record& what) noexcept;
  static bool is_for_contents(std::uint64_t number) noexcept;
  void land(int source, peer& from, const record& what);
  void landed(int source, std::uint64_t number) noexcept;
  void depart(int source, const record& what);
  void answer(int source, const record& asked, std::span<const std::byte> contents);
  bool take_answer(int source, const record& its, const std::byte* contents);
  void note_end(const fabric::operation& ended, peer* counted = nullptr) noexcept;
  void fail(const std::exception_ptr& why) noexcept;
  void break_off(const std::exception_ptr& why) noexcept;
  std::byte* place(const record& what, std::size_t bytes) const noexcept;

  communicator_state& own_;
  const served mine_;
  const std::size_t capacity_;  // of a message, bytes
  std::unique_ptr<pump> pump_;
  std::unique_ptr<standing> standing_;

  // Taken with or without the token held; nothing is posted meanwhile.
  std::mutex guard_;  // guards all to the next line
  std::vector<std::unique_ptr<peer>> peers_;
  std::vector<fabric::operation*> queued_;  // in the order in which they are to be posted
  std::vector<std::unique_ptr<message>> at_rest_;
  std::uint64_t next_number_ = 1;
  std::unordered_map<std::uint64_t, awaited_answer> answers_;
  std::exception_ptr failure_;

  std::vector<fabric::operation*> posting_;  // with the token held
  std::atomic<std::size_t> in_flight_{0};    // queued, or posted, and not ended
  std::atomic<std::size_t> in_use_{0};       // messages that are not at rest
  std::atomic<bool> has_failed_{false}, stops_{false};
};

}  // namespace weft::detail
