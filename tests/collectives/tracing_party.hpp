// SPDX-License-Identifier: Apache-2.0
// A party that carries a pattern out and records meanwhile what was done.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "collectives/schedules/recording_party.hpp"

namespace weft_test {

/// Every verb goes to both; what a pattern asks is answered by the one that carries out, a `Runs`.
template <class Runs>
class tracing_party {
 public:
  tracing_party(Runs& runs, weft::schedules::recording_party& notes)
      : runs_(runs), notes_(notes), operands_(runs.size()) {}

  struct place {
    std::byte* real = nullptr;
    weft::schedules::recording_party::place noted;
  };

  std::size_t size() const { return runs_.size(); }
  std::size_t self() const { return runs_.self(); }
  std::size_t room() const { return runs_.room(); }
  std::size_t line() const { return runs_.line(); }
  std::uint32_t number() const { return runs_.number(); }
  bool shares_slots() const { return runs_.shares_slots(); }
  bool is_mapped(std::size_t member) const { return runs_.is_mapped(member); }

  place input(std::size_t at) const { return {runs_.input(at), notes_.input(at)}; }
  place output(std::size_t at) const { return {runs_.output(at), notes_.output(at)}; }
  place shown(std::size_t member, std::size_t at) const { return {runs_.shown(member, at), notes_.shown(member, at)}; }
  place shown_before(std::size_t member, std::size_t at) const {
    return {runs_.shown_before(member, at), notes_.shown_before(member, at)};
  }
  place kept(weft::patterns::range of) { return {runs_.kept(of), notes_.kept(of)}; }
  weft::patterns::range block(std::size_t member) const { return runs_.block(member); }
  void apart(std::size_t count) {
    runs_.apart(count);
    notes_.apart(count);
  }

  bool begin(std::size_t count) { return notes_.begin(count) && runs_.begin(count); }
  bool try_begin(std::size_t count) { return notes_.begin(count) && runs_.try_begin(count); }
  bool end_begin() { return runs_.end_begin(); }
  bool begin_telling(std::size_t count) { return notes_.begin_telling(count) && runs_.begin_telling(count); }
  void copy(place from, place to, std::size_t count) {
    runs_.copy(from.real, to.real, count);
    notes_.copy(from.noted, to.noted, count);
  }
  std::span<place> operands() { return operands_; }
  void combine(std::span<const place> from, place to, std::size_t count) {
    std::vector<std::byte*> real;
    std::vector<weft::schedules::recording_party::place> noted;
    for (const place& each : from) {
      real.push_back(each.real);
      noted.push_back(each.noted);
    }
    runs_.combine(real, to.real, count);
    notes_.combine(noted, to.noted, count);
  }
  void combine_two(place first, place second, place to, std::size_t count) {
    combine(std::array{first, second}, to, count);
  }
  void tell(weft::patterns::offers what) {
    runs_.tell(what);
    notes_.tell(what);
  }
  void hear(std::size_t member, weft::patterns::offers what) {
    runs_.hear(member, what);
    notes_.hear(member, what);
  }
  template <class Reads>
  void publish(weft::patterns::shows what, Reads reads) {
    notes_.publish(what, reads);
    runs_.publish(what, reads);
  }
  bool await(std::size_t member) { return runs_.await(member) && notes_.await(member); }
  bool await_others() { return runs_.await_others() && notes_.await_others(); }
  void end() { runs_.end(); }
  void end_with_all() {
    notes_.end_with_all();
    runs_.end_with_all();
  }
  void end_with_all_in(std::uint32_t since) { runs_.end_with_all_in(since); }

  bool take(std::size_t member, std::size_t at, place to, std::size_t count) {
    return notes_.take(member, at, to.noted, count) && runs_.take(member, at, to.real, count);
  }
  bool give(std::size_t member, std::size_t at, place from, std::size_t count) {
    return notes_.give(member, at, from.noted, count) && runs_.give(member, at, from.real, count);
  }
  bool combine_told(weft::patterns::range of, place to) {
    return notes_.combine_told(of, to.noted) && runs_.combine_told(of, to.real);
  }
  template <class Takes>
  bool combine_in_place(weft::patterns::range of, Takes takes) {
    notes_.combine_in_place(of, takes);
    if constexpr (std::is_void_v<decltype(runs_.combine_in_place(of, takes))>) {
      runs_.combine_in_place(of, takes);
      return true;
    } else {
      return runs_.combine_in_place(of, takes);
    }
  }

  std::size_t first_of(std::size_t member) const { return runs_.first_of(member); }
  std::span<const std::size_t> served() const { return runs_.served(); }
  std::span<const std::size_t> firsts() const { return runs_.firsts(); }
  std::span<const std::size_t> everyone() const { return runs_.everyone(); }
  std::size_t near() const { return runs_.near(); }
  place given(std::size_t member, std::size_t at) const { return {runs_.given(member, at), notes_.given(member, at)}; }
  place taken(std::size_t member, std::size_t at) const { return {runs_.taken(member, at), notes_.taken(member, at)}; }
  weft::patterns::move pair(std::size_t giver, std::size_t taker) const { return runs_.pair(giver, taker); }
  bool begin_showing(std::size_t each) { return notes_.begin_showing(each) && runs_.begin_showing(each); }
  place shown_of(std::size_t member) const { return {runs_.shown_of(member), notes_.shown_of(member)}; }
  void use_shown(bool but_own) {
    notes_.use_shown(but_own);
    runs_.use_shown(but_own);
  }
  class asides {
   public:
    explicit asides(tracing_party& of) : real_(of.runs_), noted_(of.notes_) {}
    place at(std::size_t which) { return {real_.at(which), noted_.at(which)}; }

   private:
    typename Runs::asides real_;
    weft::schedules::recording_party::asides noted_;
  };

 private:
  Runs& runs_;
  weft::schedules::recording_party& notes_;
  std::vector<place> operands_;
};

}  // namespace weft_test
