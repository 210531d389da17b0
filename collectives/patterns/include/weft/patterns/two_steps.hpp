// SPDX-License-Identifier: Apache-2.0
// A pattern of one round in two steps, for calls that are started and then waited for: up to where it would block,
// which it does not, and from there on. A party has for it, beside what party.hpp says:
//
//     try_begin(count)   as begin, but does not block: false where that would, or has failed, and then
//     end_begin()        does the rest of it
//
// Both steps run the same pattern with the same arguments, over a party of this header each. The second leaves out what
// the first has done, so between them neither the call's buffers nor the party change, but for what others show.
#pragma once

#include <weft/patterns/party.hpp>

namespace weft::patterns {

/// How far the first step has come.
enum class reached : std::uint8_t {
  begin,  ///< others are too far behind for the round to begin
  await,  ///< this member has published
  end,    ///< it awaits nobody
};

/// What both steps ask their party.
template <class Party>
class step_of {
 public:
  using place = typename Party::place;

  std::size_t size() const noexcept { return p_.size(); }
  std::size_t self() const noexcept { return p_.self(); }
  std::size_t room() const noexcept { return p_.room(); }
  std::size_t line() const noexcept { return p_.line(); }
  place input(std::size_t at) const noexcept { return p_.input(at); }
  place output(std::size_t at) const noexcept { return p_.output(at); }
  place shown(std::size_t member, std::size_t at) const noexcept { return p_.shown(member, at); }
  range block(std::size_t member) const noexcept { return p_.block(member); }
  auto operands() noexcept { return p_.operands(); }

 protected:
  explicit step_of(Party& p) noexcept : p_(p) {}

  Party& p_;
};

template <class Party>
class first_step : public step_of<Party> {
 public:
  using place = typename Party::place;
  explicit first_step(Party& p) noexcept : step_of<Party>(p) {}

  /// Where the pattern has returned false.
  reached where() const noexcept { return begun_ ? reached::await : reached::begin; }

  bool begin(std::size_t count) { return begun_ = p_.try_begin(count); }
  void copy(place from, place to, std::size_t count) { p_.copy(from, to, count); }
  template <class Reads>
  void publish(shows what, Reads reads) {
    p_.publish(what, reads);
  }
  bool await(std::size_t) const noexcept { return false; }
  bool await_others() const noexcept { return false; }
  template <class Operands>
  void combine(const Operands&, place, std::size_t) const noexcept {}  // behind awaits alone
  void combine_two(place, place, place, std::size_t) const noexcept {}
  void end() noexcept { p_.end(); }
  void end_with_all() noexcept {}

 private:
  using step_of<Party>::p_;
  bool begun_ = false;
};

template <class Party>
class second_step : public step_of<Party> {
 public:
  using place = typename Party::place;
  second_step(Party& p, reached from) noexcept : step_of<Party>(p), from_(from) {}

  bool begin(std::size_t) {
    if (from_ != reached::begin) return true;
    goes_ = true;
    return p_.end_begin();
  }
  void copy(place from, place to, std::size_t count) {
    if (goes_) p_.copy(from, to, count);
  }
  template <class Reads>
  void publish(shows what, Reads reads) {
    if (goes_) p_.publish(what, reads);
  }
  bool await(std::size_t member) {
    goes_ = true;
    return p_.await(member);
  }
  bool await_others() {
    goes_ = true;
    return p_.await_others();
  }
  template <class Operands>
  void combine(const Operands& from, place to, std::size_t count) {
    p_.combine(from, to, count);
  }
  void combine_two(place first, place second, place to, std::size_t count) { p_.combine_two(first, second, to, count); }
  void end() noexcept {
    if (goes_) p_.end();
  }
  void end_with_all() noexcept { p_.end_with_all(); }

 private:
  using step_of<Party>::p_;
  const reached from_;
  bool goes_ = false;  // past where the first step ended
};

}  // namespace weft::patterns
