// SPDX-License-Identifier: Apache-2.0
// What is on its way to one endpoint of a loopback network, behind the lock that its senders and its owner share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <span>
#include <system_error>
#include <vector>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

/// How a loopback_mailbox took a post.
enum class loopback_post { busy, yes, vanished /**< its owner is dead: nobody will report the sender's completion */ };

/// Something that a poll found: a frame, or the end of a transfer. `sender` and `from` name the send to report done.
struct loopback_event {
  std::vector<std::byte> frame;
  transfer* ended = nullptr;  ///< the owner's transfer that has ended; null for a frame
  std::size_t bytes = 0;
  std::error_code error;
  transfer* sender = nullptr;  ///< the sender's transfer that ended with this; null for injected frames
  int from = 0;
};

/// Every member function may be called by any thread.
class loopback_mailbox {
 public:
  /// So many frames and payloads are on their way from one sender, and so many receives posted, at a time.
  loopback_mailbox(int endpoints, std::size_t queue, std::size_t receives);

  /// A frame from `from`: `context` is null when it was injected (then the bytes are copied now).
  loopback_post put_frame(int from, std::span<const std::byte> frame, transfer* context);
  /// A payload; throws std::logic_error when no receive is posted for it or the one posted is too short.
  loopback_post put_payload(int from, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context);
  /// The end of a transfer of the owner's.
  void put_completion(transfer& ended, std::size_t bytes, std::error_code error);
  /// False while as many are posted as there may be.
  bool post_receive(int from, std::uint64_t tag, std::span<std::byte> bytes, transfer& context);
  /// Takes an unmatched receive back; no effect once a payload has been matched with it.
  void cancel(transfer& context);

  /// Moves what has arrived into `found`, payloads into the memory posted for them. With `jitter`, a random part of it.
  void collect(std::vector<loopback_event>& found, std::mt19937_64* jitter);

  /// Takes back all receives from `from`, those that a payload has been matched with too: hands out the sends of those.
  std::vector<loopback_event> cut(int from);
  /// Drops what `from` sent and still owns the memory of. `killed`: drops its injected frames too, and all that follow.
  void forget(int from, bool killed);
  /// The owner is gone: hands its peers' sends out, to be reported done to them, and loses everything else.
  std::vector<loopback_event> die();

 private:
  struct frame_entry {
    int from;
    std::vector<std::byte> copy;
    std::span<const std::byte> bytes;  // the sender's memory, when context is not null
    transfer* context;
  };
  struct receive_entry {
    int from;
    std::uint64_t tag;
    std::span<std::byte> memory;
    transfer* context;
    transfer* sender;                     // not null: a payload has been matched with this receive
    std::span<const std::byte> incoming;  // the sender's memory
  };

  void collect_frames(std::vector<loopback_event>& found, std::mt19937_64* jitter);
  void collect_payloads(std::vector<loopback_event>& found, std::mt19937_64* jitter);
  void collect_completions(std::vector<loopback_event>& found, std::mt19937_64* jitter);

  const std::size_t queue_;
  const std::size_t most_receives_;
  std::mutex mutex_;  // guards everything below
  bool dead_ = false;
  std::deque<frame_entry> frames_;
  std::vector<receive_entry> receives_;
  std::vector<loopback_event> completions_;
  std::vector<std::size_t> on_the_way_;  // frames and payloads, by sender
  std::vector<bool> killed_;             // by sender
};

}  // namespace weft::fabric
