// SPDX-License-Identifier: Apache-2.0
// A collective call without its types: what communicator's templates make of their arguments.
#pragma once

#include <weft/api.h>

#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <weft/counts.hpp>
#include <weft/operators.hpp>
#include <weft/runtime/error.hpp>
#include <weft/schedules/collective.hpp>
#include <weft/type.hpp>

namespace weft {

/// How the elements of a block lie that are not all together, in their order: in runs of `length` elements, each of
/// which begins `stride` elements behind the one before. With `runs`, so many make an item, and each item begins `next`
/// elements behind the one before. What is too short for a last run or item ends there.
///
///     {1, columns}              one column of a matrix that is kept by rows
///     {3, columns}              three columns that are beside each other, row by row
///     {1, columns, rows, 1}     columns that are beside each other, column by column
struct strided {
  std::size_t length = 1;
  std::size_t stride = 1;
  std::size_t runs = 0;  ///< 0: all
  std::size_t next = 0;
};

/// Where the blocks of a buffer lie: of these counts one after another, by rank, or at displacements, in elements from
/// the buffer's beginning, in any order; each in one piece, or strided, all alike or each in its own way. Blocks that
/// are received into do not overlap. Made of whatever given_counts is made of, or of more: `{counts, displacements}`,
/// `{counts, displacements, strided}`, or with a list of the last, of one for each rank. The calls that take it copy
/// it.
struct block_layout {
  template <class... From>
  requires std::constructible_from<given_counts, From...> block_layout(From&&... from)
      : counts(std::forward<From>(from)...) {}
  template <std::integral T>
  block_layout(std::initializer_list<T> of_each) : counts(of_each) {}
  block_layout(const given_counts& of_each, const given_counts& where)
      : counts(of_each), displacements(where), displaced(true) {}
  block_layout(const given_counts& of_each, const given_counts& where, const strided& how)
      : block_layout(of_each, where) {
    alike = how;
    strided_as = as::alike;
  }
  block_layout(const given_counts& of_each, const given_counts& where, std::span<const strided> how)
      : block_layout(of_each, where) {
    strides = how;
    strided_as = as::each;
  }

  given_counts counts;
  given_counts displacements;
  bool displaced = false;
  /// Each in one piece, or strided: all as `alike`, or each as `strides` say.
  enum class as : unsigned char { whole, alike, each } strided_as = as::whole;
  strided alike;
  std::span<const strided> strides;
};

/// The same in a collective with a root: that every rank gives, or of `counts_at_root`.
struct rooted_layout {
  template <class... From>
  requires std::constructible_from<block_layout, From...> rooted_layout(From&&... from)
      : blocks(std::forward<From>(from)...) {}
  template <std::integral T>
  rooted_layout(std::initializer_list<T> of_each) : blocks(of_each) {}
  rooted_layout(const given_counts& of_each, const given_counts& where) : blocks(of_each, where) {}

  block_layout blocks;
  bool at_root = false;
};

/// Of a gather or scatter of which the root alone knows how many elements each rank has: every rank calls it in this
/// form, and what others than the root give here is ignored. They give a buffer of as many elements as they have. Where
/// that is not what the root counts on, a call fails, on all ranks in the end.
inline rooted_layout counts_at_root(block_layout of_root = {}) {
  rooted_layout all(of_root);
  all.at_root = true;
  return all;
}

/// Elements in one piece, which the compiler knows.
template <class R>
concept element_range =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && carriable<std::ranges::range_value_t<R>>;

/// What says where its elements lie, or what they are: weft::array_view, weft::buffer, weft::const_buffer.
template <class R>
concept described_buffer = std::derived_from<std::remove_cvref_t<R>, detail::described>;

/// What a call reads or writes.
template <class R>
concept message_range = element_range<R> || described_buffer<R>;

/// Buffers of operations that go on after the call: no containers that end with it. As deduced from `R&&`.
template <class... R>
concept lasting = ((std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R> || described_buffer<R>)&&...);

/// One element, where calls take it by value. Not bool, of which std::vector has no elements in memory.
template <class T>
concept message_value = carriable<T> && std::default_initializable<T> && !std::same_as<T, bool> &&
                        !std::ranges::range<T> && !std::is_pointer_v<T> && !described_buffer<T>;

namespace detail {
template <class R>
struct element_known {
  using type = void;  // that is known when the program runs
};
template <element_range R>
struct element_known<R> {
  using type = std::ranges::range_value_t<R>;
};
template <described_buffer R>
requires requires(const R& view) { view.strides(); }
struct element_known<R> {
  using type = std::remove_cvref_t<decltype(*std::declval<const R&>().data())>;
};
}  // namespace detail

/// Of a message_range; void where it is known only when the program runs.
template <message_range R>
using element_of = typename detail::element_known<std::remove_cvref_t<R>>::type;

/// Elements that Operator combines: for a built-in one, see weft::kernels::has.
template <class R, class Operator>
concept reduced_by = message_range<R> && combines<Operator, element_of<R>>;
template <class T, class Operator>
concept value_reduced_by = message_value<T> && combines<Operator, T>;

namespace detail {

using schedules::collective;

/// Whether a collective combines by an operator of the caller's.
enum class custom_operator : std::uint8_t { none, commutes, keeps_order };

/// Whether two are the same, which have no padding: all words at once.
template <class T>
bool are_same(const T& one, const T& other) noexcept {
  static_assert(std::has_unique_object_representations_v<T>);
  using words = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;
  const auto a = std::bit_cast<words>(one), b = std::bit_cast<words>(other);
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

/// What calls of one rank have in common that differ in their buffers alone, or in what the caller's operator does,
/// where the ranks' blocks are even.
struct call_key {
  call_key() noexcept {}  // as of request

  collective what = collective::barrier;
  kernels::type type = kernels::type::float32;
  kernels::operation op = kernels::operation::sum;
  custom_operator by = custom_operator::none;  ///< else `op` and `type` are not those of the call
  int root = 0;
  std::size_t element_bytes = 0;  ///< 0: of no call
  std::size_t in_count = 0;       ///< of a call among processes: elements of the vector,
  std::size_t out_count = 0;      ///< and of a block

  friend bool operator==(const call_key& one, const call_key& other) noexcept { return are_same(one, other); }
};

/// What calls have in common that differ in nothing.
struct request_arguments : call_key {
  request_arguments() noexcept { element_bytes = 1; }

  const void* in = nullptr;
  void* out = nullptr;

  friend bool operator==(const request_arguments& one, const request_arguments& other) noexcept {
    return are_same(one, other);
  }
};

struct request : request_arguments {
  // Not defaulted: compilers would then clear it at once by a string instruction, which takes longer than all the rest.
  request() noexcept {}

  void combine_by(const user_function& function) noexcept {
    custom = function;
    by = function.order == commutes ? custom_operator::commutes : custom_operator::keeps_order;
  }

  /// What was found wrong before its communicator was asked, which throws it.
  void refuse(errc kind, std::string why) {
    if (refused != errc()) return;
    in_pieces = true;
    refused = kind;
    keeps = std::make_shared<const std::string>(std::move(why));
  }

  /// For an operation that outlives the call: goes by a copy of the caller's operator.
  void keep_operator() {
    if (custom.apply == nullptr || keeps != nullptr) return;
    if (custom.copy == nullptr)
      throw error(
          errc::invalid_operator,
          "an operator that cannot be copied: calls that are started or planned, or have a deadline, keep a copy");
    keeps = custom.copy(custom.function);
    custom.function = keeps.get();
  }

  user_function custom;                                    ///< in place of `op` and `type`
  bool reproducible = false;                               ///< float or double, by reproducible_sum
  std::shared_ptr<const void> keeps;                       ///< what lives as long as the operation
  std::chrono::steady_clock::time_point* ended = nullptr;  ///< for tools: is set when it has, where it was started
  bool uneven = false;                                     ///< the ranks' blocks have the counts
  std::span<const std::size_t> counts;    ///< of each rank's block; in an all-to-all of those that this rank sends
  std::span<const std::size_t> received;  ///< in an all-to-all: of those that this rank receives
  bool at_root = false;                   ///< in a gather or scatter: the counts are the root's alone
  bool displaced = false;                 ///< the blocks do not lie one after another, but, where these are not empty,
  std::span<const std::size_t> displacements, received_displacements;  ///< there
  errc refused{};  ///< if one, `keeps` is the std::string that says why
  /// Whether it is refused, or one of these is not null: then the blocks are strided as it says, or the buffer lies so.
  /// They live until the call has been started, or planned.
  bool in_pieces = false;
  const block_layout *strided = nullptr, *received_strided = nullptr;
  const described *in_lies = nullptr, *out_lies = nullptr;
  /// Of an all-gather of ranks that join: gets memory that all ranks of the process have together, in place of `out`.
  std::shared_ptr<std::byte[]>* common_output = nullptr;
};

template <element_range R>
std::size_t bytes_of_element(const R&) noexcept {
  return sizeof(std::ranges::range_value_t<R>);
}
template <described_buffer R>
std::size_t bytes_of_element(const R& data) noexcept {
  if constexpr (std::is_void_v<element_of<R>>)
    return data.element().bytes();
  else
    return sizeof(element_of<R>);
}

/// Whether its elements lie in one piece.
template <described_buffer R>
bool is_whole(const R& data) noexcept {
  if constexpr (std::is_void_v<element_of<R>>)
    return data.element().is_contiguous();
  else
    return data.is_contiguous();
}

template <element_range R>
std::span<const std::byte> bytes_of(const R& data) {
  return std::as_bytes(std::span(std::ranges::data(data), std::ranges::size(data)));
}
template <described_buffer R>
std::span<const std::byte> bytes_of(const R& data) {
  return {static_cast<const std::byte*>(static_cast<const void*>(data.data())), data.size() * bytes_of_element(data)};
}

template <element_range R>
std::span<std::byte> writable_bytes_of(R& data) {
  static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>,
                "weft: this buffer is written to, but its elements are const");
  return std::as_writable_bytes(std::span(std::ranges::data(data), std::ranges::size(data)));
}
template <described_buffer R>
std::span<std::byte> writable_bytes_of(R& data) {
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(data.data())>>,
                "weft: this buffer is written to, but its elements are const");
  return {static_cast<std::byte*>(static_cast<void*>(data.data())), data.size() * bytes_of_element(data)};
}

/// Says how its elements lie; null: in one piece.
template <message_range R>
const described* lies_of(const R& data) noexcept {
  if constexpr (described_buffer<R>)
    return is_whole(data) ? nullptr : &data;
  else
    return nullptr;
}

/// A buffer that may lie in pieces.
struct pieces {
  void* at;              ///< only read, of what is sent
  std::size_t bytes;     ///< of data
  const described* how;  ///< null: in one piece
  std::span<std::byte> whole() const noexcept { return {static_cast<std::byte*>(at), bytes}; }
};
template <message_range R>
pieces pieces_of(const R& data) noexcept {
  const std::span<const std::byte> bytes = bytes_of(data);
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), lies_of(data)};
}
template <message_range R>
pieces writable_pieces_of(R& data) noexcept {
  const std::span<std::byte> bytes = writable_bytes_of(data);
  return {bytes.data(), bytes.size(), lies_of(data)};
}

/// Refuses the call unless the elements have as many bytes, and those that are built in are the same.
WEFT_API void check_same_elements(request& call, const weft::type& in, const weft::type& out);
/// The same; or refuses the call: it has no built-in operators.
WEFT_API kernels::type builtin_type_of(request& call, const weft::type& of);

template <message_range R>
weft::type type_of_elements(const R& data) {
  if constexpr (std::is_void_v<element_of<R>>)
    return data.element();
  else
    return weft::type::of<element_of<R>>();
}

/// What built-in operators combine; refuses the call where they do not.
template <message_range R>
kernels::type builtin_type_in(request& call, const R& data) {
  if constexpr (combinable<element_of<R>>)
    return kernels::type_of<element_of<R>>;
  else
    return builtin_type_of(call, type_of_elements(data));
}

/// A collective that combines nothing, or nothing yet.
template <message_range R, message_range S>
request moving(collective what, const R& in, S& out, int root = 0) {
  constexpr bool both_known = !std::is_void_v<element_of<R>> && !std::is_void_v<element_of<S>>;
  static_assert(!both_known || std::is_same_v<element_of<R>, element_of<S>>,
                "weft: input and output are of different types");
  request call;
  call.what = what;
  call.in = bytes_of(in).data();
  call.in_count = std::ranges::size(in);
  call.out = writable_bytes_of(out).data();
  call.out_count = std::ranges::size(out);
  call.element_bytes = bytes_of_element(in);
  call.root = root;
  if constexpr (described_buffer<R> || described_buffer<S>) {
    call.in_lies = lies_of(in);
    call.out_lies = lies_of(out);
    call.in_pieces = call.in_lies != nullptr || call.out_lies != nullptr;
  }
  if constexpr (!both_known) check_same_elements(call, type_of_elements(in), type_of_elements(out));
  return call;
}

template <class R, class S>
request combining(collective what, const R& in, S& out, reduction_operator op, int root = 0) {
  request call = moving(what, in, out, root);
  call.type = builtin_type_in(call, in);
  call.op = op.operation;
  return call;
}

template <class R, class S>
request combining(collective what, const R& in, S& out, reproducible_sum_operator, int root = 0) {
  request call = combining(what, in, out, reduction_operator(sum), root);
  call.reproducible = true;
  return call;
}

template <class R, class S, standard_function F>
request combining(collective what, const R& in, S& out, const F&, int root = 0) {
  return combining(what, in, out, reduction_operator(standard_operator<F>()), root);
}

/// What an any_operator is.
struct by_operator {
  template <class R, class S>
  static request combining(collective what, const R& in, S& out, const any_operator& op, int root) {
    if (const auto* const builtin = std::get_if<reduction_operator>(&op.by_))
      return detail::combining(what, in, out, *builtin, root);
    if (const auto* const user = std::get_if<any_operator::user>(&op.by_)) {
      request call = moving(what, in, out, root);
      call.combine_by(erased(*user));
      return call;
    }
    request call = detail::combining(what, in, out, reproducible_sum, root);
    check_summable(call);
    return call;
  }

 private:
  static user_function erased(const any_operator::user& by) noexcept {
    return {[](const void* function, const void* in, void* inout, std::size_t count) {
              (*static_cast<const any_operator::function*>(function))(in, inout, count);
            },
            &by.combine, by.order, copy_of<any_operator::function>()};
  }
  /// Refuses the call where there are no reproducible sums of these.
  WEFT_API static void check_summable(request& call);
};

template <class R, class S, std::same_as<any_operator> Operator>
request combining(collective what, const R& in, S& out, const Operator& op, int root = 0) {
  return by_operator::combining(what, in, out, op, root);
}

template <class R, class S, class T, class F>
request combining(collective what, const R& in, S& out, const user_operator<T, F>& op, int root = 0) {
  request call = moving(what, in, out, root);
  call.combine_by(erased(op));
  return call;
}

inline request with_counts(request call, const block_layout& blocks, const block_layout& received = {}) {
  call.uneven = true;
  call.counts = blocks.counts.all();
  call.received = received.counts.all();
  call.displacements = blocks.displacements.all();
  call.received_displacements = received.displacements.all();
  if (blocks.strided_as != block_layout::as::whole) call.strided = &blocks;
  if (received.strided_as != block_layout::as::whole) call.received_strided = &received;
  const bool strided = call.strided != nullptr || call.received_strided != nullptr;
  call.displaced = blocks.displaced || received.displaced || strided;
  call.in_pieces = call.in_pieces || strided;
  return call;
}

inline request with_rooted_counts(const request& made, const rooted_layout& all) {
  request call = with_counts(made, all.blocks);
  call.at_root = all.at_root;
  return call;
}

}  // namespace detail
}  // namespace weft
