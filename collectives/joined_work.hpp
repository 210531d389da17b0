// What the ranks of a process do together for one collective.
#pragma once

#include <cstddef>
#include <optional>

#include "combine_inputs.hpp"
#include "leaders.hpp"
#include "meeting.hpp"
#include "request_shape.hpp"

namespace weft::detail {

/// In place a block lies where it goes.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// A call's part of this process, as one of its ranks sees it; every rank makes its own, of a call that is the same.
///
///     begin    by the last to come, alone: finds memory for what has no place in a rank's buffer
///     join     the ranks' parts, into what the process has for the others
///     between  what goes among the processes, where there are several
///     take     the ranks' parts of what came of that
///
/// Joining and taking are done seat by seat, by the ranks themselves on their threads, or all by one of them. Where
/// both have something to do, all are done with the one before any begins with the other.
class joined_work {
 public:
  joined_work(meeting& here, const request& call, std::size_t bytes) : here_(here), call_(call), bytes_(bytes) {}
  joined_work(const joined_work&) = delete;
  joined_work& operator=(const joined_work&) = delete;
  virtual ~joined_work() = default;

  virtual void begin() {}
  virtual bool joins() const = 0;
  virtual void join(std::size_t seat) = 0;
  virtual void join_all() {
    for (std::size_t i = 0; i < here_.size(); ++i) join(i);
  }
  virtual leader_call between() const = 0;
  virtual bool takes() const = 0;
  virtual void take(std::size_t seat) = 0;
  /// Whether a seat's part is for its own rank to take: its operator may throw.
  virtual bool takes_itself() const { return false; }
  /// How many bytes are read or written, roughly, by each of `join` and `take`.
  virtual std::size_t moved() const { return bytes_; }

 protected:
  /// Elements that a seat combines of a vector that all combine in shares.
  struct share {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  share share_of(std::size_t seat) const;

  std::size_t elements() const { return bytes_ / call_.element_bytes; }
  bool alone() const { return here_.alone(); }
  bool has_root() const { return schedules::is_rooted(call_.what); }
  bool root_is_here() const { return here_.between().process_of(call_.root) == here_.between().here(); }
  /// A call among the processes by the name of `what`, of which buffers and blocks are still to be said.
  leader_call call_of(collective what) const;

  meeting& here_;
  const request& call_;
  const std::size_t bytes_;  ///< of the vector
};

}  // namespace weft::detail
