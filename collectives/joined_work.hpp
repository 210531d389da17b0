// What the ranks of a process do together for one collective.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "combine_inputs.hpp"
#include "leaders.hpp"
#include "meeting.hpp"
#include "request_shape.hpp"

namespace weft::detail {

/// In place a block lies where it goes.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// A call's part of this process, as one of its ranks sees it; every rank makes its own, of a call that is the same.
/// Of each bench the last rank does the part of all who sit there, its own operator combining what it does.
///
/// A short one, where all ranks are in one process, is done with copies of what all ranks give: each bench copies its
/// ranks' inputs to where the others read them, and `make` makes its ranks' outputs from all the copies. Else all work
/// in each other's buffers:
///
///     begin    by the one that conducts, alone: finds memory for what has no place in a rank's buffer
///     join     the ranks' parts, into what the process has for the others
///     between  what goes among the processes, where there are several
///     take     the ranks' parts of what came of that
///
/// Joining and taking are done bench by bench, by each of them, or all by one. Where both have something to do, all are
/// done with the one before any begins with the other.
class joined_work {
 public:
  joined_work(meeting& here, const request& call, std::size_t bytes) : here_(here), call_(call), bytes_(bytes) {}
  joined_work(const joined_work&) = delete;
  joined_work& operator=(const joined_work&) = delete;
  virtual ~joined_work() = default;

  /// Whether copies will do, and of how many bytes of each rank that gives any; the same for all ranks.
  std::optional<std::size_t> copied() const;
  /// Whether a seat's rank gives any.
  bool gives(std::size_t seat) const;
  /// Whether all copies are read before the outputs are written: then those of the bench's own ranks are their inputs.
  virtual bool combines_copies() const { return false; }
  /// The outputs of the ranks at `bench`, from the copies by seat.
  virtual void make(std::size_t bench, std::span<const std::byte* const> copies) = 0;

  virtual void begin() {}
  virtual bool joins() const = 0;
  virtual void join(std::size_t bench) = 0;
  virtual void join_all() {
    for (std::size_t b = 0; b < here_.benches().size(); ++b) join(b);
  }
  virtual leader_call between() const = 0;
  virtual bool takes() const = 0;
  virtual void take(std::size_t seat) = 0;
  /// Whether a bench's part is for itself to take: an operator may throw. That of the seat's rank, who is to be told.
  virtual bool takes_itself() const { return false; }
  /// How many bytes are read or written, roughly, by each of `join` and `take`.
  virtual std::size_t moved() const { return bytes_; }

 protected:
  /// Of each rank's input; nothing where `make` does not know this call. The same for all ranks.
  virtual std::optional<std::size_t> input_bytes() const { return bytes_; }

  /// Elements that a bench combines of a vector that all combine in shares.
  struct share {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  share share_of(std::size_t bench) const;

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
