// SPDX-License-Identifier: Apache-2.0
// A party that carries stages of several nodes out and records meanwhile what was done.
#pragma once

#include "collectives/hierarchy/staged_party.hpp"
#include "collectives/schedules/staged_recorder.hpp"

namespace weft_test {

/// As tracing_party.
class tracing_stages {
 public:
  tracing_stages(weft::detail::staged_party& runs, weft::schedules::staged_recorder& notes)
      : runs_(runs), notes_(notes) {}

  struct place {
    std::byte* real = nullptr;
    weft::schedules::staged_recorder::place noted;
  };
  using stage = weft::schedules::stage_of<place>;

  std::size_t nodes() const { return runs_.nodes(); }
  std::size_t node() const { return runs_.node(); }
  bool is_alone() const { return runs_.is_alone(); }
  bool speaks() const { return runs_.speaks(); }
  std::size_t root_node() const { return runs_.root_node(); }
  std::size_t root_seat() const { return runs_.root_seat(); }
  place input() const { return {runs_.input(), notes_.input()}; }
  place output() const { return {runs_.output(), notes_.output()}; }
  place memory() { return {runs_.memory(), notes_.memory()}; }
  place memory_of_rows() { return {runs_.memory_of_rows(), notes_.memory_of_rows()}; }
  place of_node(place all) const { return {runs_.of_node(all.real), notes_.of_node(all.noted)}; }
  std::size_t pieces() const { return runs_.pieces(); }

  bool on_node(const stage& one) { return notes_.on_node(noted(one)) && runs_.on_node(real(one)); }
  bool on_node(const stage& one, std::size_t piece) {
    return notes_.on_node(noted(one), piece) && runs_.on_node(real(one), piece);
  }
  bool between(const stage& one) { return notes_.between(noted(one)) && runs_.between(real(one)); }
  bool begin_between(const stage& one, std::size_t piece) {
    return notes_.begin_between(noted(one), piece) && runs_.begin_between(real(one), piece);
  }
  bool end_between(std::size_t piece) { return notes_.end_between(piece) && runs_.end_between(piece); }
  bool blocks_on_node(const stage& one) { return notes_.blocks_on_node(noted(one)) && runs_.blocks_on_node(real(one)); }
  bool blocks_between(const stage& one) { return notes_.blocks_between(noted(one)) && runs_.blocks_between(real(one)); }
  bool hand_over(place from, place to) {
    return notes_.hand_over(from.noted, to.noted) && runs_.hand_over(from.real, to.real);
  }
  bool gather_rows(place rows) { return notes_.gather_rows(rows.noted) && runs_.gather_rows(rows.real); }
  bool exchange(place rows, place columns) {
    return notes_.exchange(rows.noted, columns.noted) && runs_.exchange(rows.real, columns.real);
  }
  bool scatter_columns(place columns) {
    return notes_.scatter_columns(columns.noted) && runs_.scatter_columns(columns.real);
  }
  bool exchange_alone() { return notes_.exchange_alone() && runs_.exchange_alone(); }
  void combine(place first, place second, place to) {
    notes_.combine(first.noted, second.noted, to.noted);
    runs_.combine(first.real, second.real, to.real);
  }
  void copy(place from, place to) {
    notes_.copy(from.noted, to.noted);
    runs_.copy(from.real, to.real);
  }

 private:
  static weft::schedules::staged_recorder::stage noted(const stage& one) {
    return {one.what, one.root, one.in.noted, one.out.noted};
  }
  static weft::detail::staged_party::stage real(const stage& one) {
    return {one.what, one.root, one.in.real, one.out.real};
  }

  weft::detail::staged_party& runs_;
  weft::schedules::staged_recorder& notes_;
};

}  // namespace weft_test
