// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <weft/hierarchy/leaders.hpp>
#include <weft/process/process.hpp>
#include <weft/process/workers.hpp>
#include <weft/ranks/meeting.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {
namespace {

/// Bytes that are kept for later calls: more would stay for good of the longest vector that there ever was.
constexpr std::size_t most_scratch_kept = 1 << 20;

}  // namespace

std::shared_ptr<meeting> meetings::find(std::uint64_t number) {
  const fabric::token_holder holder(guard_);
  const auto known = known_.find(number);
  return known != known_.end() ? known->second.lock() : nullptr;
}

std::shared_ptr<meeting> meetings::find_or_make(std::uint64_t number,
                                                const std::function<std::shared_ptr<meeting>()>& make) {
  const fabric::token_holder holder(guard_);
  if (std::shared_ptr<meeting> found = known_[number].lock()) return found;
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  std::shared_ptr<meeting> made = make();
  known_[number] = made;
  return made;
}

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
  if (joins_) seat_by_worker();
}

void meeting::seat_by_worker() {
  seats_ = std::vector<seat>(ranks_.size());
  places_.resize(seats_.size());
  everyone_.resize(seats_.size());
  std::iota(everyone_.begin(), everyone_.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> on(static_cast<std::size_t>(host_.workers()));
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const int local = members_->world[static_cast<std::size_t>(ranks_[i])] - host_.first_rank();
    on[static_cast<std::size_t>(detail::worker_of(host_, local))].push_back(i);
  }
  std::erase_if(on, [](const auto& seats) { return seats.empty(); });
  // That of the first seat is the first.
  std::ranges::sort(on);
  workers_ = std::vector<worker>(on.size());
  for (std::size_t b = 0; b < on.size(); ++b) {
    for (std::size_t place = 0; place < on[b].size(); ++place) places_[on[b][place]] = {b, place};
    workers_[b].inputs.resize(seats_.size());
    workers_[b].outputs.resize(seats_.size());
    workers_[b].operands.resize(seats_.size());
    workers_[b].targets.reserve(seats_.size());
    firsts_.push_back(on[b].front());
    most_on_a_worker_ = std::max(most_on_a_worker_, on[b].size());
    workers_[b].seats = std::move(on[b]);
  }
  rounds_.emplace(workers_.size(), host_.moved_by());
  if (host_.records() == nullptr) return;
  std::vector<int> names;
  for (const std::size_t first : firsts_) names.push_back(rank_in_job(first));
  rounds_->name_workers(std::move(names));
}

meeting::~meeting() {
  if (followed_ != nullptr) host_.messages().while_held([this] { std::erase(followed_->followers_, this); });
}

std::shared_ptr<meeting> meeting::of_plan(const std::shared_ptr<meeting>& holder, const fabric::participant& member,
                                          std::uint32_t number, std::vector<fabric::board_ticket> boards) {
  return holder->of_plans_.find_or_make(number, [&] {
    auto members = std::make_shared<fabric::group>(*holder->members_);
    members->board = std::move(boards);
    auto made = std::make_shared<meeting>(holder->host_, std::move(members));
    made->followed_ = holder;
    made->follow(member);
    return made;
  });
}

void meeting::follow(const fabric::participant& member) {
  host_.messages().while_held([&] {
    followed_->followers_.push_back(this);
    if (member.failure != nullptr) failed();
  });
}

const rank_groups& meeting::groups() {
  std::call_once(grouped_, [this] {
    groups_.emplace(members_->process, host_.nodes(), host_.reading(), host_.settings().group_ranks, host_.places());
  });
  return *groups_;
}

std::shared_ptr<const void> meeting::common_to_ranks(const std::function<std::shared_ptr<const void>()>& make) {
  const std::lock_guard lock(making_common_);
  if (common_to_ranks_ == nullptr) common_to_ranks_ = make();
  return common_to_ranks_;
}

std::size_t meeting::seat_of(int rank) const {
  return static_cast<std::size_t>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
}

meeting::arrival meeting::arrive(std::size_t index) {
  worker& at = workers_[worker_of(index)];
  if (at.seats.size() == 1) return rounds_->has_failed() ? arrival::failed : arrival::last;
  // release: this rank's seat and buffers are visible to the last. acquire, by the last: theirs, and what the last of
  // the call before did. The others' increments between are read-modify-writes and continue each release sequence.
  const std::uint32_t before = at.arrived.fetch_add(1, std::memory_order_acq_rel);
  if ((before & (broken | left)) != 0) return arrival::failed;
  return before + 1 == at.seats.size() ? arrival::last : arrival::early;
}

meeting::arrival meeting::await_end(std::size_t index) {
  seat& mine = seats_[index];
  const ticks since = trace::begin_wait();
  mine.called.wait(host_.moved_by());
  trace::note_wait(since, mine.over ? rank_in_job(mine.ended_by) : trace::record::nobody);
  mine.called.reset();
  return std::exchange(mine.over, false) ? arrival::over : arrival::failed;
}

void meeting::release(std::size_t index) noexcept {
  worker& of = workers_[worker_of(index)];
  if (!alone()) count_call(of);
  if (of.seats.size() == 1) return;
  for (const std::size_t i : of.seats) {
    if (i == index) continue;
    seats_[i].over = true;
    seats_[i].ended_by = index;
    seats_[i].called.set();
  }
  // Some may have arrived for their next call already; it cannot begin before this rank arrives, behind this. Until
  // here a failure wakes nobody, since those that wait have been called by the loop above, or are to be. acq_rel: as in
  // failed(), one of the two sees the other; and who is last next time sees what this one did.
  const std::uint32_t before =
      of.arrived.fetch_sub(static_cast<std::uint32_t>(of.seats.size()), std::memory_order_acq_rel);
  if ((before & (broken | left)) != 0) wake_all(of);
}

void meeting::miss_who_left() {
  if (!joins_) return;
  for (std::size_t i = 0; i < seats_.size(); ++i)
    if (host_.messages().has_left(members_->communicator, members_->world[static_cast<std::size_t>(ranks_[i])]))
      leave(i);
}

void meeting::count_call(worker& of) noexcept {
  // seq_cst, and the look behind it: pairs with those in leave(). One of the two sees the other. relaxed: the last rank
  // of a worker alone counts, one behind another.
  of.calls.store(of.calls.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  if (&of == workers_.data()) close_if_over();
}

void meeting::leave(std::size_t index) noexcept {
  if (!joins_) return;
  if (!alone()) {
    // relaxed: this rank has been told that its calls are over, behind their count.
    last_call_.store(workers_[worker_of(index)].calls.load(std::memory_order_relaxed), std::memory_order_seq_cst);
    close_if_over();
  }
  left_.store(rank_at(index), std::memory_order_relaxed);  // relaxed: what follows is behind it, and tells of it
  rounds_->leave(worker_of(index));
  worker& at = workers_[worker_of(index)];
  if (at.seats.size() == 1) return;
  // acq_rel: as in failed(). Where all have come their call is over, since this rank leaves, and who has come for the
  // next is left to release(). Where another has left before, those that had come have been woken, and none waits since.
  const std::uint32_t before = at.arrived.fetch_or(left, std::memory_order_acq_rel);
  const std::uint32_t come = before & ~(broken | left);
  if ((before & left) == 0 && come != 0 && come < at.seats.size()) wake_all(at);
}

void meeting::close_if_over() noexcept {
  // seq_cst, both: see count_call() and leave().
  const std::uint64_t over = workers_.front().calls.load(std::memory_order_seq_cst);
  if (over >= last_call_.load(std::memory_order_seq_cst)) between_->close();
}

std::exception_ptr meeting::failure_of(const fabric::participant& member) {
  const int gone = left_.load(std::memory_order_relaxed);  // relaxed: see leave()
  if (gone >= 0 && gone != member.rank) host_.messages().miss(member, gone);
  return host_.failure_of(member);
}

void meeting::refuse_difference(std::size_t one, std::size_t another) {
  const meeting::seat &first = at(one), &other = at(another);
  const auto called = [&](std::size_t seat) {
    return "rank " + std::to_string(rank_at(seat)) + " called " + describe_fingerprint(at(seat).terms.fingerprint);
  };
  const char* how = "";
  if (other.terms.fingerprint == first.terms.fingerprint)
    how = other.terms == first.terms ? " after other calls" : " with other counts";
  refuse(called(one) + " where " + called(another) + how);
}

bool meeting::agree_on_counts() {
  for (std::size_t from = 0; from < size(); ++from)
    for (std::size_t to = 0; to < size(); ++to) {
      const std::size_t sent = at(from).sent.length(rank_at(to));
      const std::size_t expected = at(to).received.length(rank_at(from));
      if (sent == expected) continue;
      refuse("in an alltoall with counts rank " + std::to_string(rank_at(from)) + " sends rank " +
             std::to_string(rank_at(to)) + " " + std::to_string(sent) + " bytes where that expects " +
             std::to_string(expected));
      return false;
    }
  return true;
}

void meeting::end_calls(std::span<const std::size_t> seats, const std::exception_ptr& failure) noexcept {
  for (const std::size_t i : seats) seats_[i].failure = failure;
}

void meeting::refuse(const std::string& why) {
  host_.messages().break_communicator(members_->communicator, errc::mismatched_call,
                                      why + " (communicator " + std::to_string(members_->communicator) + ")");
}

void meeting::failed() noexcept {
  for (meeting* each : followers_) each->failed();
  between_->fail();
  if (!joins_) return;
  rounds_->fail();
  for (worker& each : workers_) {
    // acq_rel: orders it with the last rank's, in arrive() or release(): either its worker's ranks have all come, and
    // this leaves them to the last, or they never will, and who has arrived is woken.
    const std::uint32_t before = each.arrived.fetch_or(broken, std::memory_order_acq_rel);
    if ((before & broken) == 0 && (before & ~left) < each.seats.size()) wake_all(each);
  }
}

void meeting::wake_all(const worker& of) noexcept {
  // From now on no rank waits for this event: for those that do not wait now it does not matter.
  for (const std::size_t i : of.seats) seats_[i].called.set();
}

std::byte* meeting::scratch(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  if (scratch_bytes_ < bytes + alignment) {
    free_scratch();
    scratch_charge_ = memory_charge(host_.budget(), bytes + alignment, "scratch memory of a collective");
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes + alignment);
    scratch_bytes_ = bytes + alignment;
  }
  void* begin = scratch_.get();
  std::size_t room = scratch_bytes_;
  return static_cast<std::byte*>(std::align(alignment, bytes, begin, room));
}

void meeting::free_long_scratch() noexcept {
  if (followed_ != nullptr || scratch_bytes_ == 0) return;
  if (scratch_bytes_ > most_scratch_kept || host_.budget()->is_scarce()) free_scratch();
}

void meeting::free_scratch() noexcept {
  scratch_bytes_ = 0;
  scratch_.reset();
  scratch_charge_ = {};
}

}  // namespace weft::detail
