// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/process/process.hpp>
#include <weft/ranks/process_team.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {

using patterns::range;

namespace {

// Shown is what of all ranks of a worker travels with its stamp, and of a root as much for each of them. To show saves
// the rounds in which all hear where the others' buffers lie, and costs a copy that everyone reads. On 2 workers of a
// Xeon (Sapphire Rapids), us shown and not: an all-reduce of 2 ranks 256 B 0.41 and 0.50, 512 B 0.64 and 0.51, 2 KiB
// 1.00 and 0.66; 4 ranks 256 B 0.96 and 1.19, 1 KiB 1.49 and 1.19; 8 ranks 64 B 2.5 and 2.7, 256 B 2.4 and 2.5, 1 KiB
// 3.4 and 2.5; a broadcast of 2 ranks 256 B 0.30 and 0.33, 1 KiB 0.52 and 0.36; 8 ranks 512 B 1.6 and 2.1, 2 KiB 1.9
// and 2.2, 4 KiB 2.2 and 2.4.

/// So many bytes are worked on by all workers; fewer by the first, at once.
constexpr std::size_t shared_bytes = 32 << 10;

}  // namespace

std::optional<std::size_t> showable_bytes(const meeting& here, const request& call, const request_shape& shape) {
  if (here.alone() && call.what == collective::barrier) return 0;
  if (!here.alone() || here.workers().size() == 1 || call.custom.apply != nullptr) return std::nullopt;
  if (call.uneven || call.common_output != nullptr) return std::nullopt;
  const bool gives_block = schedules::has_blocks(call.what) && !has_input_blocks(call.what);
  const std::size_t each = (gives_block ? shape.block : shape.vector) * call.element_bytes;
  const bool fits = each <= worker_rounds::slot_bytes && each * here.most_on_a_worker() <= worker_rounds::slot_bytes;
  return fits ? std::optional(each) : std::nullopt;
}

std::optional<std::size_t> shown_bytes(const meeting& here, const request& call, const request_shape& shape,
                                       const schedules::selection_parameters& selection) {
  const auto each = showable_bytes(here, call, shape);
  if (!each) return each;
  const schedules::algorithm* const wanted = selection.wanted[static_cast<std::size_t>(call.what)];
  const bool by_root = call.what == collective::broadcast || call.what == collective::scatter;
  const std::size_t ranks = here.most_on_a_worker();
  const std::size_t most = by_root ? worker_rounds::line_bytes * ranks : worker_rounds::line_bytes / ranks;
  const bool shows = wanted != nullptr ? wanted->pattern == schedules::memory_pattern::served_shown : *each <= most;
  return shows ? each : std::nullopt;
}

process_team::process_team(meeting& here, std::size_t seat, const schedules::selection_parameters& selection)
    : here_(here),
      seat_(seat),
      selection_(selection),
      worker_(here.worker_of(seat)),
      p_(here, seat),
      exchange_(here, seat) {}

void process_team::take_terms(const request_shape& shape) {
  const request& call = *call_;
  bytes_ = shape.vector * call.element_bytes;
  block_bytes_ = shape.block * call.element_bytes;
  element_ = schedules::combines(call.what) ? call.element_bytes : 1;
  count_ = schedules::combines(call.what) ? shape.vector : bytes_;
  p_.take_terms(call, element_, is_sole());
  at_once_ = is_exchange() && patterns::is_at_once(p_, call.what);
  if (at_once_) exchange_.take_terms(call, bytes_);
  place_blocks();
  has_terms_ = true;
}

std::size_t process_team::moved() const {
  const bool to_all = call_->what == collective::alltoall || call_->what == collective::allgather;
  return to_all && call_->common_output == nullptr ? bytes_ * here_.size() : bytes_;
}

// The operator of a rank may throw where this takes its part of a scan, and that rank alone is to be told.
bool process_team::is_sole() const {
  if (here_.at(seat_).known->shown || here_.workers().size() == 1) return false;
  if (call_->what == collective::alltoall && call_->uneven) return false;  // ranks have vectors of other lengths
  const bool is_scan = call_->what == collective::scan || call_->what == collective::exscan;
  return moved() < shared_bytes && !(is_scan && !alone() && call_->custom.apply != nullptr);
}

void process_team::run() {
  agreed_ = true;
  if (!(here_.at(seat_).known->shown ? run_shown() : run_in_place())) end_failed();
  if (worker_ == 0) here_.common = nullptr;
}

void process_team::show_given() {
  if (!patterns::show_given(p_, call_->what, owner(), shown_elements())) end_failed();
}

void process_team::use_given() {
  if (!patterns::use_given(p_, call_->what, owner(), count_)) return end_failed();
  rethrow_thrown();
}

void process_team::rethrow_thrown() {
  if (const auto thrown = p_.take_thrown()) std::rethrow_exception(thrown);
}

void process_team::end_failed() { here_.end_calls(here_.workers()[worker_].seats, failure()); }

void process_team::place_blocks() {
  if (!schedules::has_blocks(call_->what)) return;
  block_places& its = here_.workers()[worker_].places;
  if (!call_->uneven)
    its.assign(block_bytes_ / element_);
  else if (call_->what != collective::alltoall)
    its.assign(call_->counts, call_->element_bytes / element_);
}

bool process_team::run_shown() {
  const bool over = patterns::serve_all_shown(p_, call_->what, owner(), count_, shown_elements());
  rethrow_thrown();
  return over;
}

std::size_t process_team::scratch_bytes() const {
  if (alone() || bytes_ == 0) return 0;
  const bool several = here_.size() > 1;
  switch (call_->what) {
    case collective::scan:
    case collective::exscan:
      return 2 * bytes_;
    case collective::alltoall:
      return 2 * bytes_away();
    case collective::reduce_scatter:
      return several ? bytes_ : 0;
    case collective::reduce:
      return several && !root_is_here() ? bytes_ : 0;
    case collective::gather:
    case collective::scatter:
      if (!several || root_is_here()) return 0;
      return places().begin(here_.rank_at(here_.size() - 1) + 1) * element_ - first_byte();
    default:
      return 0;
  }
}

bool process_team::run_in_place() {
  if (worker_ == 0) {
    const std::size_t bytes = scratch_bytes();
    here_.target = bytes != 0 ? here_.scratch(bytes) : nullptr;
    if (call_->common_output != nullptr) here_.common = std::make_shared_for_overwrite<std::byte[]>(bytes_);
  }
  const bool over = patterns::serve(
      p_, [this] { p_.guarded([this] { work(); }); }, [this] { return then(); });
  if (worker_ == 0 && over) here_.free_long_scratch();
  return over;
}

void process_team::work() {
  if (call_->what == collective::alltoall && call_->uneven && !(agreed_ = here_.agree_on_counts())) return;
  if (alone() && call_->common_output == nullptr)
    return patterns::work_of_first(p_, call_->what, owner(), count_, false);
  for (const std::size_t m : p_.served()) here_.at(m).common = here_.common;
  join();
}

void process_team::join() {
  const range mine = patterns::share_of_first(p_, count_);
  switch (call_->what) {
    case collective::scan:
      if (mine.count != 0) patterns::scan_for(p_, mine, p_.everyone());
      return;
    case collective::exscan:
      return patterns::exscan_for(p_, mine, patterns::everyone, true, [this](std::byte* from, range of) {
        p_.copy(from, total() + of.first * element_, of.count);
      });
    case collective::alltoall:
      return pack();
    default:
      break;
  }
  if (here_.size() == 1 || bytes_ == 0) return;
  switch (call_->what) {
    case collective::reduce:
    case collective::allreduce:
    case collective::reduce_scatter:
      if (here_.target != nullptr) p_.take_to(owner(), here_.target);
      return p_.combine_in_place(mine, patterns::only(owner()));
    case collective::gather:
    case collective::allgather:
      p_.take_to(owner(), target());
      p_.begin_blocks(true);
      return patterns::gather_of(p_, owner(), p_.served());
    default:
      return;
  }
}

std::byte* process_team::target() const {
  if (here_.target != nullptr) return here_.target;
  const meeting::seat& one = here_.at(owner());
  // Of a scatter the blocks lie there already, and nothing is written.
  std::byte* const whole = call_->what == collective::scatter ? const_cast<std::byte*>(one.input)
                           : call_->common_output != nullptr  ? here_.common.get()
                                                              : one.output;
  return whole + first_byte();
}

bool process_team::then() {
  if (!agreed_) {
    end_served(failure());
    return true;
  }
  if (!alone()) {
    if (worker_ == 0) run_between();
    if (p_.firsts().size() > 1) {
      p_.begin(0);
      p_.publish(patterns::shows::nothing, [this](std::size_t) { return worker_ == 0; });
      if (worker_ != 0 && !p_.await(p_.firsts()[0])) return false;
      p_.end();
    }
    if (here_.result.poisoned == nullptr && here_.result.failure == nullptr && thrower() == nullptr) return take();
  } else if (thrower() == nullptr) {
    return true;
  }
  try {
    end_badly();
  } catch (...) {
    end_served(std::current_exception());
  }
  return meet_again();
}

const meeting::worker* process_team::thrower() const {
  for (const meeting::worker& each : here_.workers())
    if (each.thrown != nullptr) return &each;
  return nullptr;
}

fabric::poison process_team::poison_of(const meeting::worker& thrower) const {
  return {here_.rank_at(thrower.thrower), message_of(thrower.thrown)};
}

void process_team::end_badly() {
  static const leader_result nothing;
  const leader_result& result = alone() ? nothing : here_.result;
  if (result.poisoned != nullptr) return end_poisoned(*result.poisoned, result.failure);
  if (result.failure != nullptr) return end_served(result.failure);
  end_poisoned(poison_of(*thrower()), nullptr);
}

bool process_team::meet_again() {
  p_.begin(0);
  if (!patterns::meet_firsts(p_, patterns::shows::nothing)) return false;
  p_.end();
  here_.workers()[worker_].thrown = nullptr;
  return true;
}

std::exception_ptr process_team::failure() const { return here_.failure_of(*here_.at(seat_).member); }

void process_team::end_served(const std::exception_ptr& failure) { here_.end_calls(p_.served(), failure); }

void process_team::end_poisoned(const fabric::poison& poisoned, const std::exception_ptr& of_first) {
  const auto told = fabric::as_failure(poisoned);
  const meeting::worker& mine = here_.workers()[worker_];
  for (const std::size_t m : p_.served()) {
    const bool depends = !schedules::is_rooted(call_->what) || here_.rank_at(m) == call_->root;
    here_.at(m).failure = depends ? told : nullptr;
    if (m == 0 && of_first != nullptr && poisoned.origin == here_.rank_at(0)) here_.at(m).failure = of_first;
    if (m == seat_ && mine.thrown != nullptr) here_.at(m).failure = mine.thrown;
  }
}

void process_team::run_between() {
  leader_call& call = here_.call;
  here_.result = {};
  try {
    const meeting::worker* const its = thrower();
    call.what = call_->what == collective::scan ? collective::exscan : call_->what;
    call.of = call_;
    call.count = bytes_ / call_->element_bytes;
    call.block = 0;
    call.counts.clear();
    call.root = schedules::is_rooted(call_->what) ? here_.between().process_of(call_->root) : 0;
    call.sequence = here_.at(seat_).sequence;
    call.fingerprint = here_.at(seat_).terms.fingerprint;
    call.custom = here_.at(0).custom;
    call.poisoned = nullptr;
    if (its != nullptr) call.poisoned = std::make_shared<const fabric::poison>(poison_of(*its));
    set_counts(call);
    set_buffers(call);
    here_.result = here_.between().run(call, *here_.at(0).member, selection_);
  } catch (...) {
    here_.result = {here_.host().break_communicator(*here_.at(seat_).member), nullptr};
  }
}

void process_team::set_counts(leader_call& call) const {
  const leaders& all = here_.between();
  if (call_->what == collective::alltoall) {
    const std::size_t block = block_bytes_ / call_->element_bytes;
    for (int twice = 0; twice < 2; ++twice)
      for (int process = 0; process < all.size(); ++process) {
        const auto its = static_cast<std::size_t>(all.first_rank(process + 1) - all.first_rank(process));
        call.counts.push_back(process == all.here() ? 0 : here_.size() * its * block);
      }
    call.count = bytes_away() / call_->element_bytes;
  }
  if (!schedules::has_blocks(call_->what) || call_->what == collective::alltoall) return;
  const auto length = [&](int process) {
    const std::size_t elements = places().begin(all.first_rank(process + 1)) - places().begin(all.first_rank(process));
    return elements * element_ / call_->element_bytes;
  };
  call.block = length(0);
  bool even = true;
  for (int process = 1; process < all.size(); ++process) even = even && length(process) == call.block;
  for (int process = 0; process < all.size() && !even; ++process) call.counts.push_back(length(process));
}

void process_team::set_buffers(leader_call& call) const {
  const meeting::seat& one = here_.at(owner());
  call.in = one.input;
  call.out = call_->common_output != nullptr ? here_.common.get() : one.output;
  if (bytes_ == 0) return;
  const bool several = here_.size() > 1;
  switch (call_->what) {
    case collective::scan:
    case collective::exscan:
      call.in = total();
      call.out = before();
      return;
    case collective::alltoall:
      call.in = here_.target;
      call.out = here_.target + bytes_away();
      return;
    case collective::reduce:
    case collective::allreduce:
      if (several) call.in = here_.target != nullptr ? here_.target : one.output;
      return;
    case collective::reduce_scatter:
      if (!several) return;
      call.in = here_.target;
      call.out = here_.target + first_byte();
      return;
    case collective::allgather:
      if (several) call.in = target();
      return;
    case collective::gather:
      if (!several) return;
      call.in = target();
      if (!root_is_here()) call.out = here_.target;
      return;
    case collective::scatter:
      if (several) call.out = target();
      return;
    default:
      return;
  }
}

bool process_team::take() {
  const bool several = here_.size() > 1;
  const auto end = [this] { return meet_again(); };
  if (bytes_ == 0) return true;
  switch (call_->what) {
    case collective::broadcast:
    case collective::allreduce:
    case collective::allgather:
      if (!several || call_->common_output != nullptr) return true;
      p_.give_from(owner(), here_.at(owner()).output);
      p_.take_to(owner(), here_.at(owner()).output);
      patterns::copy_for_served(p_, owner(), count_);
      return end();
    case collective::reduce_scatter:
    case collective::scatter:
      if (!several) return true;
      p_.give_from(owner(), target() + (call_->what == collective::scatter ? 0 : first_byte()));
      p_.take_to(owner(), here_.at(owner()).output);
      p_.begin_blocks(true);
      patterns::move_for_served(p_, patterns::moving::scatter, owner());
      return end();
    case collective::alltoall:
      unpack();
      patterns::move_for_served(p_, patterns::moving::alltoall, 0);
      return end();
    case collective::scan:
    case collective::exscan:
      if (here_.between().here() == 0) return true;
      scan_behind();
      return end();
    default:
      return true;
  }
}

// By each rank's own operator.
void process_team::scan_behind() {
  const std::size_t count = count_;
  for (const std::size_t m : p_.served()) {
    if (is_exclusive() && m == 0) {
      p_.copy(before(), p_.taken(0, 0), count);
      continue;
    }
    p_.combine_by(here_.at(m).custom);
    p_.combine_two(before(), p_.taken(m, 0), p_.taken(m, 0), count);
    here_.at(m).failure = p_.take_thrown();
  }
}

template <class Each>
void process_team::for_others(Each each) const {
  const leaders& all = here_.between();
  for (int process = 0; process < all.size(); ++process)
    if (process != all.here())
      each(static_cast<std::size_t>(all.first_rank(process)),
           static_cast<std::size_t>(all.first_rank(process + 1) - all.first_rank(process)));
}

// What goes to other processes lies by the rank that it goes to, and for each by who sends it.
void process_team::pack() {
  for (const std::size_t m : p_.served()) {
    std::byte* into = here_.target + m * block_bytes_;
    for_others([&](std::size_t first, std::size_t ranks) {
      for (std::size_t to = first; to < first + ranks; ++to, into += here_.size() * block_bytes_)
        copy_bytes(into, p_.given(m, 0) + to * block_bytes_, block_bytes_);
    });
  }
}

void process_team::unpack() {
  for (const std::size_t m : p_.served()) {
    const std::byte* from = here_.target + bytes_away();
    for_others([&](std::size_t first, std::size_t ranks) {
      const std::size_t bytes = ranks * block_bytes_;
      copy_bytes(p_.taken(m, 0) + first * block_bytes_, from + m * bytes, bytes);
      from += here_.size() * bytes;
    });
  }
}

}  // namespace weft::detail
