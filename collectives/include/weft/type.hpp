// SPDX-License-Identifier: Apache-2.0
// Elements whose type is known only when the program runs: for bindings, and for data that lies in fields and strides.
//
//   const auto number = weft::type::of<double>();  // or weft::kernels::find_type("double")
//   world.allreduce(weft::const_buffer(in, n, number), weft::buffer(out, n, number), weft::any_operator(weft::sum));
//
//   const auto mass_and_speed = weft::type::record({{offsetof(star, mass), number}, {offsetof(star, speed), number,
//   3}},
//                                                  sizeof(star));
//   world.send(weft::const_buffer(stars.data(), stars.size(), mass_and_speed), to);
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <weft/layout.hpp>
#include <weft/operators.hpp>

namespace weft {

namespace detail {
struct by_operator;
}  // namespace detail

struct field;

/// What an element of a buffer is. A value: copies are cheap, and any thread may use them.
///
/// Where an element does not lie in one piece, or the next does not follow at once, calls pack it: a message carries
/// its bytes in their order, without what is between them. So what is sent from one type can be received by another
/// that has the same data. Calls pack when they begin (a plan: when it is started), and unpack when they are over; of
/// calls that are started, when their handle is waited for.
class WEFT_API type {
 public:
  /// A byte.
  type() noexcept : type(kernels::type::byte) {}
  /// One that built-in operators combine.
  type(kernels::type builtin) noexcept;
  /// `bytes` bytes, which messages and the caller's operators take as they are. Throws errc::invalid_argument for none.
  static type opaque(std::size_t bytes);
  /// What T is: a built-in type, or its bytes.
  template <carriable T>
  static type of() {
    if constexpr (kernels::combinable<T>)
      return kernels::type_of<T>;
    else
      return opaque(sizeof(T));
  }

  /// Elements of several types, each with its place, as a struct has them; the next one is `extent` bytes behind. The
  /// data is in the order of the list. Throws errc::invalid_argument where there is none of it.
  static type record(std::span<const field> fields, std::size_t extent);
  static type record(std::initializer_list<field> fields, std::size_t extent);
  /// `count` elements of this type, each `stride` bytes behind the one before; 0: at once. What follows such a type
  /// follows it where its last element ends; see `resized`. Throws errc::invalid_argument where `count` is 0.
  type repeated(std::size_t count, std::ptrdiff_t stride = 0) const;
  /// The same with the next one `extent` bytes behind: how the columns of a matrix by rows lie beside each other is
  /// type::of<double>().repeated(rows, 8 * columns).resized(8). Throws errc::invalid_argument for 0.
  type resized(std::ptrdiff_t extent) const;

  /// Of data in an element.
  std::size_t bytes() const noexcept { return bytes_; }
  /// From an element to the next, bytes.
  std::ptrdiff_t extent() const noexcept { return extent_; }
  /// Whether elements lie in one piece, one at once behind the other.
  bool is_contiguous() const noexcept { return spread_ == nullptr; }
  /// Which of the built-in ones it is. Repeated, or resized, it is one no more.
  std::optional<kernels::type> builtin() const noexcept { return builtin_; }
  /// From an element's address: its first byte, and behind its last.
  std::ptrdiff_t lowest() const noexcept;
  std::ptrdiff_t end() const noexcept;

  /// Copies elements at `from` into `to`, as a message has them: count * bytes() bytes.
  void pack(void* to, const void* from, std::size_t count) const noexcept;
  /// The inverse.
  void unpack(void* to, const void* from, std::size_t count) const noexcept;

 private:
  friend class buffer;
  friend class const_buffer;

  type(detail::layout as, std::ptrdiff_t extent);
  /// Of one that is contiguous, too.
  detail::layout its_layout() const;

  std::size_t bytes_;
  std::ptrdiff_t extent_;
  std::optional<kernels::type> builtin_;
  std::shared_ptr<const detail::spread> spread_;  // null: contiguous
};

/// Elements of a record: where the first one is, bytes from the record's beginning.
struct field {
  std::ptrdiff_t offset = 0;
  type of;
  std::size_t count = 1;
};

inline type type::record(std::initializer_list<field> fields, std::size_t extent) {
  return record(std::span(fields.begin(), fields.size()), extent);
}

/// `count` elements at `data`, to be read or written by the calls that take a range. What a range of elements has to
/// be known for when the program is compiled is looked at by the call, which throws errc::invalid_argument.
class buffer : public detail::described {
 public:
  buffer(void* data, std::size_t count, type of) noexcept
      : described{spread_of}, data_(data), count_(count), of_(std::move(of)) {}
  void* data() const noexcept { return data_; }
  /// Elements.
  std::size_t size() const noexcept { return count_; }
  const type& element() const noexcept { return of_; }

 private:
  friend class const_buffer;
  static std::shared_ptr<const detail::spread> spread_of(const described& of) {
    return static_cast<const buffer&>(of).of_.spread_;
  }

  void* data_;
  std::size_t count_;
  type of_;
};

/// The same, to be read.
class const_buffer : public detail::described {
 public:
  const_buffer(const void* data, std::size_t count, type of) noexcept
      : described{spread_of}, data_(data), count_(count), of_(std::move(of)) {}
  const_buffer(const buffer& writable) noexcept : const_buffer(writable.data_, writable.count_, writable.of_) {}
  const void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }
  const type& element() const noexcept { return of_; }

 private:
  static std::shared_ptr<const detail::spread> spread_of(const described& of) {
    return static_cast<const const_buffer&>(of).of_.spread_;
  }

  const void* data_;
  std::size_t count_;
  type of_;
};

/// Whether such elements can be combined is seen when the program runs.
template <>
inline constexpr bool combines<reduction_operator, void> = true;
template <kernels::operation O>
inline constexpr bool combines<builtin_operator<O>, void> = true;
template <>
inline constexpr bool combines<reproducible_sum_operator, void> = true;

/// An operator that is chosen when the program runs: a built-in one, reproducible_sum, or a function of the caller's on
/// elements of any size, as make_operator describes. The function gets elements as messages carry them, without what is
/// between them, and not aligned for what they are where their bytes() are no multiple of that.
class any_operator {
 public:
  using function = std::function<void(const void* in, void* inout, std::size_t count)>;

  any_operator(reduction_operator builtin) noexcept : by_(builtin) {}
  template <kernels::operation O>
  any_operator(builtin_operator<O> builtin) noexcept : by_(reduction_operator(builtin)) {}
  any_operator(reproducible_sum_operator builtin) noexcept : by_(builtin) {}
  any_operator(function combine, commutativity order) : by_(user{std::move(combine), order}) {}

 private:
  friend struct detail::by_operator;
  struct user {
    function combine;
    commutativity order;
  };
  std::variant<reduction_operator, reproducible_sum_operator, user> by_;
};
template <class T>
inline constexpr bool combines<any_operator, T> = std::is_void_v<T> || carriable<T>;

}  // namespace weft
