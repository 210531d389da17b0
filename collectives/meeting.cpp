#include "meeting.hpp"

#include <algorithm>

#include "leaders.hpp"
#include "process.hpp"

namespace weft::detail {
namespace {

/// Bytes that are kept for later calls.
constexpr std::size_t most_scratch_kept = 1 << 20;

}  // namespace

meeting::meeting(process& host, std::shared_ptr<const fabric::group> members)
    : host_(host), members_(std::move(members)), between_(std::make_unique<leaders>(host, *members_)) {
  const auto& of = members_->process;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] == host.number()) ranks_.push_back(static_cast<int>(i));
    if (i == 0 || of[i] != of[i - 1]) ++rows;
  }
  in_rows_ = rows == static_cast<std::size_t>(between_->size());
  joins_ = host.settings().node && between_->size() < members_->size();
  seats_ = std::vector<seat>(joins_ ? ranks_.size() : 0);
  inputs.resize(seats_.size());
  outputs.resize(seats_.size());
  working_.store(static_cast<std::uint32_t>(seats_.size()));
}

meeting::~meeting() { host_.forget_meeting(members_->communicator); }

const rank_groups& meeting::groups() {
  std::call_once(grouped_, [this] { groups_.emplace(members_->process, host_.nodes(), host_.settings().group_ranks); });
  return *groups_;
}

std::size_t meeting::seat_of(int rank) const {
  return static_cast<std::size_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
}

std::optional<meeting::job> meeting::arrive(std::size_t index, bool& last) {
  seat& mine = seats_[index];
  last = false;
  // relaxed: a broken communicator stays so, and what it broke with is read under the messenger's token.
  if ((arrived_.load(std::memory_order_relaxed) & broken) != 0) return std::nullopt;
  // release: this rank's seat and buffers are visible to the last. acquire, by the last: theirs. The others' increments
  // between are read-modify-writes and continue each release sequence.
  const std::uint32_t before = arrived_.fetch_add(1, std::memory_order_acq_rel);
  if ((before & broken) != 0) return std::nullopt;
  last = before + 1 == seats_.size();
  if (last) return std::nullopt;
  mine.called.wait(host_.moved_by());
  mine.called.reset();
  return std::exchange(mine.next, std::nullopt);
}

void meeting::say(std::size_t index, job next, bool arriving) {
  if (next == job::over && scratch_bytes_ > most_scratch_kept) {
    scratch_.reset();
    scratch_bytes_ = 0;
  }
  // relaxed: the events below publish it.
  working_.store(static_cast<std::uint32_t>(seats_.size()), std::memory_order_relaxed);
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (i == index) continue;
    seats_[i].next = next;
    (arriving ? seats_[i].called : seats_[i].done).set();
  }
  if (next != job::over) return;
  // Some may have arrived for their next call already; it cannot begin before this rank arrives, behind this. Until
  // here a failure wakes nobody, since those that wait have been called by the loop above, or are to be. acq_rel: as in
  // failed(), one of the two sees the other.
  const std::uint32_t before = arrived_.fetch_sub(static_cast<std::uint32_t>(seats_.size()), std::memory_order_acq_rel);
  if ((before & broken) != 0) wake_those_that_arrived();
}

bool meeting::is_last_done() noexcept {
  // acq_rel: as in arrive(), for what each has done.
  return working_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

meeting::job meeting::await_next(std::size_t index) {
  seat& mine = seats_[index];
  mine.done.wait(host_.moved_by());
  mine.done.reset();
  return *std::exchange(mine.next, std::nullopt);
}

void meeting::failed() noexcept {
  if (between_->road() != nullptr) between_->road()->fail();
  // acq_rel: orders it with the last rank's, in arrive() or say(): either the call has begun, and this leaves its ranks
  // alone, or it never will, and who has arrived is woken.
  const std::uint32_t before = arrived_.fetch_or(broken, std::memory_order_acq_rel);
  if ((before & broken) == 0 && before < seats_.size()) wake_those_that_arrived();
}

void meeting::wake_those_that_arrived() noexcept {
  // From now on no rank waits for this event: for those that do not wait now it does not matter.
  for (seat& each : seats_) each.called.set();
}

std::byte* meeting::scratch(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  if (scratch_bytes_ < bytes + alignment) {
    scratch_.reset();
    scratch_bytes_ = 0;
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes + alignment);
    scratch_bytes_ = bytes + alignment;
  }
  void* begin = scratch_.get();
  std::size_t room = scratch_bytes_;
  return static_cast<std::byte*>(std::align(alignment, bytes, begin, room));
}

}  // namespace weft::detail
