// SPDX-License-Identifier: Apache-2.0
// Failure detection: who of the job's processes is lost, and who has left. When a peer dies libfabric says nothing, so
// every process holds control connections to O(log P) others and passes on what it learns:
//
//   process p watches p+1, p+2, p+4, ... (mod P)     a process is watched by as many as it watches
//   a connection ends, or a process (pidfd), or is silent on this host   -> lost, flooded over every control connection
//   a process on another host is silent: the network may have fallen apart        -> a vote of all
//   it is stopped or a debugger has it, as its host's other processes say         -> nothing, as long as that lasts
//   it is silent, and has another address      -> one more connection, by that: silent is who is not heard on any
//   a watched process is lost or has left                       -> watch the next living one after it instead
//
// A new connection first repeats all that its process knows, so what one survivor knows every survivor will know,
// however many processes die at once. In a vote more than half of the members go on, of two halves that with the lowest
// process, and the others give themselves up: those that left, or are known to have died, do not count (verdict.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/monitor_events.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

class bell;
class job_news;
class watch;

/// One process's part in the watch. Has one thread, which sleeps but for what happens and two heartbeats a second. Once
/// `start` has returned, members may be called from any thread, `leave`, `stop` and the destructor by one at a time.
class monitor {
 public:
  /// Most bytes in a note.
  static constexpr std::size_t maximum_note = longest_note;

  /// Opens the socket that the others will connect to, on a port that the system picks, and the bell on the same port
  /// for datagrams. Throws a system error, or errc::invalid_argument for an address that is none.
  explicit monitor(monitor_options options = {});

  /// Ends the watch without a word: to the others this process is lost, unless it has left.
  ~monitor();

  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  /// Where this monitor listens, "ip:port", with spaces between several: goes into this process's record.
  const std::string& control_address() const noexcept;

  /// Begins to watch, as process `process` of those in `all`. Every process of the job calls it once with the same
  /// records, job and secret. Does not block: connections are made on the monitor's thread, and processes that start
  /// later catch up on what was flooded before. Throws errc::invalid_argument if called twice, for a process out of
  /// range, for an empty secret or for a control address that is none.
  void start(int process, std::vector<process_record> all, std::uint64_t job, std::span<const std::byte> secret,
             monitor_events events);

  /// From now on processes may leave in order; for one that has ended a goodbye may still be on its way.
  void all_joined() noexcept;

  /// Whether `process` is known to be lost, and to have left. Never blocks; true from just before the event is
  /// reported.
  bool lost(int process) const;
  bool left(int process) const;

  /// How the loss of `process` was noticed; empty if it is not lost.
  std::string reason(int process) const;

  /// Whether `process` has ended for certain: it is on this host and its process is gone. Does not block.
  bool ended(int process) const;

  /// Sends `note`, at most `maximum_note` bytes, to every other process that lives, to each exactly once, notes of one
  /// origin in their order. Does not block. If this process dies meanwhile, all survivors get the note or none. (A
  /// process that lost all its connections at once gets up to the last 1 MiB of notes repeated.) Throws
  /// errc::invalid_argument for a longer note; after `leave` or `stop` it does nothing.
  void flood(std::span<const std::byte> note);

  /// Rings at `process`, where `monitor_events::rung` is called if it listens. Does not block, costs a datagram, and
  /// may get lost; before `start` it does. For those that sleep until there is something to do.
  void ring(int process) const noexcept;
  /// Has `monitor_events::rung` called once, as soon as somebody rings, or at once where somebody has since it was
  /// called last. Until then, and while nobody listens, a ring costs this process nothing. Does not block.
  void listen() const noexcept;

  /// Says goodbye to everyone and ends the watch; the end of this process is no loss any more. Returns when those that
  /// this process is connected to have heard it, after a second at the latest. Nothing is reported after it has
  /// returned.
  void leave();

  /// Ends the watch without a word. Nothing is reported after it has returned. Does nothing after `leave` or before
  /// `start`.
  void stop() noexcept;

 private:
  watch& started() const;
  const job_news& news_about(int process) const;

  monitor_options options_;
  std::vector<file_descriptor> listeners_;  // of the addresses in their order
  std::string control_address_;
  std::unique_ptr<bell> bell_;
  std::unique_ptr<watch> watch_;  // the thread, and everything that it needs
};

}  // namespace weft::fabric
