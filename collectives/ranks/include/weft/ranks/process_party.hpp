// SPDX-License-Identifier: Apache-2.0
// The party that carries patterns out among the ranks of one process.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <type_traits>
#include <weft/patterns/served.hpp>
#include <weft/ranks/meeting.hpp>
#include <weft/request/aligned_bytes.hpp>
#include <weft/request/combine_inputs.hpp>
#include <weft/runtime/copy_bytes.hpp>

namespace weft::detail {

/// The calls of the ranks of a process, as the last rank of a worker carries them out for all there (meeting.hpp). It
/// is a party (weft/patterns/served.hpp), whose members are the ranks, by seat, and whose groups are workers: the first
/// of each, or where one worker does all, of all. Rounds are those of the workers (worker_rounds.hpp): one is taken
/// where something is published that another worker awaits. Buffers are used where they lie.
///
/// Once a worker has heard of the others' buffers none leaves before the pattern has ended. What an operator of the
/// caller's throws is kept, and all rounds are gone through as ever.
class process_party {
 public:
  using place = std::byte*;

  /// Of the rank on this seat, which carries them out.
  process_party(meeting& here, std::size_t seat)
      : here_(here),
        seat_(seat),
        worker_(here.worker_of(seat)),
        workers_(here.workers().size()),
        self_(here.firsts()[worker_]),
        mine_(here.workers()[worker_]),
        turn_(here.rounds(), worker_) {}

  /// What the calls from now on have alike. `sole`: the first worker does everything.
  void take_terms(const request& call, std::size_t element_bytes, bool sole) {
    element_ = element_bytes;
    sole_ = sole;
    uneven_ = call.uneven;
    by_ = array_operator(call, here_.at(seat_).known->kernel);
  }
  /// Begins one.
  void start(const user_function& custom) noexcept {
    by_.custom = custom;
    stays_ = 0;
    each_ = 0;
    begin_ = 0;
    if (thrown_ != nullptr) [[unlikely]]
      thrown_ = nullptr;
    fill(mine_.seats);
  }

  // As a party:

  std::size_t size() const noexcept { return here_.size(); }
  std::size_t self() const noexcept { return self_; }
  std::size_t first_of(std::size_t m) const noexcept { return first_at(sole_ ? 0 : here_.worker_of(m)); }
  std::span<const std::size_t> served() const noexcept {
    if (!sole_) return mine_.seats;
    return worker_ == 0 ? here_.everyone() : std::span<const std::size_t>();
  }
  std::span<const std::size_t> firsts() const noexcept { return sole_ ? here_.firsts().first(1) : here_.firsts(); }
  std::span<const std::size_t> everyone() const noexcept { return here_.everyone(); }
  std::size_t line() const noexcept { return std::max<std::size_t>(64 / element_, 1); }
  std::size_t near() const noexcept { return std::max<std::size_t>(near_bytes / element_, 1); }

  place given(std::size_t m, std::size_t at) const noexcept { return mine_.inputs[m] + at * element_; }
  place taken(std::size_t m, std::size_t at) const noexcept { return mine_.outputs[m] + at * element_; }
  patterns::range block(std::size_t m) const noexcept {
    const int rank = here_.rank_at(m);
    return {mine_.places.begin(rank) - begin_, mine_.places.length(rank)};
  }
  patterns::move pair(std::size_t giver, std::size_t taker) const noexcept {
    const int from = here_.rank_at(giver), to = here_.rank_at(taker);
    if (!uneven_) return {mine_.places.begin(to), mine_.places.length(to), mine_.places.begin(from)};
    const block_places &sent = here_.at(giver).sent, &received = here_.at(taker).received;
    return {sent.begin(to), received.length(from), received.begin(from)};
  }

  bool begin(std::size_t) noexcept {
    has_turn_ = tells_ = false;
    return true;
  }
  bool begin_telling(std::size_t) noexcept {
    has_turn_ = false;
    tells_ = true;
    return true;
  }
  void tell(patterns::offers) noexcept {}
  void hear(std::size_t, patterns::offers) noexcept {}
  bool begin_showing(std::size_t each) {
    begin(each);
    each_ = each * element_;
    if (workers_ == 1 || each == 0) return true;
    take_turn();
    shown_ = turn_.make_room(each_ * mine_.seats.size());
    return true;
  }
  place shown_of(std::size_t m) const noexcept { return shown_ + here_.place_of(m) * each_; }
  void use_shown(bool but_own) noexcept;

  template <class Reads>
  void publish(patterns::shows what, Reads reads) {
    if (what == patterns::shows::made) show_thrown();
    if (!is_read(reads)) return;
    take_turn();
    if (tells_) stays_ = turn_.number();
    turn_.publish();
  }
  bool await(std::size_t m) { return here_.worker_of(m) == worker_ || await_worker(here_.worker_of(m)); }
  /// All workers have told: from now on none leaves.
  bool await_others();
  void end() noexcept {
    if (has_turn_) turn_.wake();
  }
  void end_with_all() noexcept { end(); }

  void copy(place from, place to, std::size_t count) noexcept { copy_bytes(to, from, count * element_); }
  std::span<place> operands() noexcept { return mine_.operands; }
  /// Nothing where an operator has thrown.
  void combine(std::span<const place> from, place to, std::size_t count) noexcept {
    if (count != 0) guarded([&] { combine_inputs(by_, {from.data(), from.size()}, 0, count, to, {}); });
  }
  void combine_two(place first, place second, place to, std::size_t count) noexcept {
    combine(std::array{first, second}, to, count);
  }
  template <class Takes>
  void combine_in_place(patterns::range of, Takes takes) noexcept {
    if (of.count == 0) return;
    mine_.targets.clear();  // there is room for all
    for (std::size_t m = 0; m < size(); ++m)
      if (takes(m)) mine_.targets.push_back(mine_.outputs[m]);
    if (!mine_.targets.empty()) combine_into_targets(of);
  }

  /// Memory for two times near() elements.
  class asides {
   public:
    explicit asides(const process_party& of);
    place at(std::size_t which) noexcept { return (far_ != nullptr ? far_.get() : near_.data()) + which * each_; }

   private:
    std::size_t each_;
    alignas(64) std::array<std::byte, 2 * near_bytes> near_;
    aligned_bytes far_;  // for elements that are longer
  };

  // Beside that:

  /// The operator that combines, from now on.
  void combine_by(const user_function& custom) noexcept { by_.custom = custom; }
  /// Does what may throw; nothing where that has been.
  template <class Work>
  void guarded(Work work) noexcept {
    if (thrown_ != nullptr) return;
    try {
      work();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
  /// What has thrown since the firsts met.
  std::exception_ptr take_thrown() noexcept { return std::exchange(thrown_, nullptr); }
  /// From now on what a member gives, or takes, lies there.
  void give_from(std::size_t m, const std::byte* from) noexcept { mine_.inputs[m] = const_cast<std::byte*>(from); }
  void take_to(std::size_t m, std::byte* to) noexcept { mine_.outputs[m] = to; }
  /// From now on vectors of blocks begin with that of the first member, or again with that of rank 0.
  void begin_blocks(bool here) noexcept { begin_ = here ? mine_.places.begin(here_.rank_at(0)) : 0; }

 private:
  std::size_t first_at(std::size_t worker) const noexcept { return here_.firsts()[worker]; }
  void fill(std::span<const std::size_t> seats) noexcept {
    for (const std::size_t m : seats) {
      give_from(m, here_.at(m).input);
      take_to(m, here_.at(m).output);
    }
  }
  void show_thrown() noexcept;
  void take_turn() {
    if (std::exchange(has_turn_, true)) return;
    turn_.begin(here_.at(seat_).stamp());
  }
  bool await_worker(std::size_t worker) {
    take_turn();
    const auto found = turn_.await(worker, each_ * here_.workers()[worker].seats.size(), stays_);
    if (found == worker_rounds::found::here) [[likely]]
      return true;
    if (found == worker_rounds::found::differs) report_difference(worker);
    return false;
  }
  void report_difference(std::size_t worker);
  void combine_into_targets(patterns::range of) noexcept;

  template <class Reads>
  bool is_read(Reads reads) const {
    if constexpr (std::is_same_v<Reads, patterns::all_firsts<process_party>>)
      return workers_ > 1 && (!sole_ || worker_ != 0);
    for (const std::size_t first : here_.firsts())
      if (first != self() && reads(first)) return true;
    return false;
  }
  meeting& here_;
  const std::size_t seat_;  ///< of the rank that carries it out
  const std::size_t worker_;
  const std::size_t workers_;  ///< how many
  const std::size_t self_;     ///< the first of this one
  meeting::worker& mine_;
  bool sole_ = false;
  bool uneven_ = false;
  std::size_t element_ = 1;  ///< bytes
  array_operator by_;
  std::exception_ptr thrown_;
  worker_rounds::round turn_;
  bool has_turn_ = false;    ///< has been taken since the latest begin
  bool tells_ = false;       ///< in this round
  std::uint64_t stays_ = 0;  ///< the round in which this worker told others; 0: none yet
  std::size_t each_ = 0;     ///< bytes shown of each rank
  std::byte* shown_ = nullptr;
  std::size_t begin_ = 0;  ///< of the vector of blocks
};

}  // namespace weft::detail
