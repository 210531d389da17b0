// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "handles.hpp"

namespace weft::c {
namespace {

using kernels::operation;

static_assert(WEFT_TYPE_DOUBLE == static_cast<int>(kernels::type::float64));
static_assert(WEFT_TYPE_LOCATED_INT64 == static_cast<int>(kernels::type::located_int64));
static_assert(WEFT_TYPE_BYTE == static_cast<int>(kernels::type::byte));
static_assert(WEFT_OP_MAX_LOCATION == static_cast<int>(operation::max_location));

template <std::size_t... I>
std::array<weft_type, sizeof...(I)> make_types(std::index_sequence<I...>) {
  return {weft_type{static_cast<kernels::type>(I)}...};
}

weft_op make_op(std::size_t which) {
  if (which == WEFT_OP_REPRODUCIBLE_SUM) return {reproducible_sum};
  if (which == WEFT_OP_REPLACE) return {std::nullopt, detail::replaces};
  return {reduction_operator(static_cast<operation>(which)), static_cast<detail::window_operator>(which)};
}
template <std::size_t... I>
std::array<weft_op, sizeof...(I)> make_ops(std::index_sequence<I...>) {
  return {make_op(I)...};
}

}  // namespace

const any_operator& of(const weft_op* op) {
  if (const auto& its = at(op, "op").it; its) return *its;
  throw error(errc::invalid_operator, "WEFT_REPLACE is an operator of windows alone");
}

}  // namespace weft::c

using namespace weft::c;

const weft_type* weft_type_builtin(enum weft_builtin_type which) {
  static const auto all = make_types(std::make_index_sequence<WEFT_TYPE_BYTE + 1>());
  return static_cast<std::size_t>(which) < all.size() ? &all[which] : nullptr;
}

const weft_op* weft_op_builtin(enum weft_builtin_op which) {
  static const auto all = make_ops(std::make_index_sequence<WEFT_OP_REPLACE + 1>());
  return static_cast<std::size_t>(which) < all.size() ? &all[which] : nullptr;
}

int weft_type_opaque(size_t bytes, weft_type** type) {
  return give(type, [&] { return weft::type::opaque(bytes); });
}

int weft_type_record(size_t fields, const ptrdiff_t* offsets, const weft_type* const* types, const size_t* counts,
                     size_t extent, weft_type** type) {
  return give(type, [&] {
    std::vector<weft::field> all;
    for (size_t i = 0; i < fields; ++i)
      all.push_back({at(offsets + i, "offsets"), of(at(types + i, "types")), at(counts + i, "counts")});
    return weft::type::record(all, extent);
  });
}

int weft_type_repeated(const weft_type* element, size_t count, ptrdiff_t stride, weft_type** type) {
  return give(type, [&] { return of(element).repeated(count, stride); });
}

int weft_type_resized(const weft_type* element, ptrdiff_t extent, weft_type** type) {
  return give(type, [&] { return of(element).resized(extent); });
}

void weft_type_free(weft_type* type) { delete type; }
size_t weft_type_bytes(const weft_type* type) { return type != nullptr ? type->it.bytes() : 0; }
ptrdiff_t weft_type_extent(const weft_type* type) { return type != nullptr ? type->it.extent() : 0; }
void weft_type_pack(const weft_type* type, void* to, const void* from, size_t count) {
  if (type != nullptr) type->it.pack(to, from, count);
}
void weft_type_unpack(const weft_type* type, void* to, const void* from, size_t count) {
  if (type != nullptr) type->it.unpack(to, from, count);
}

int weft_op_create(weft_function function, void* context, int commutes, weft_op** op) {
  return give(op, [&] {
    if (function == nullptr) refuse_null("function");
    const auto combine = [=](const void* in, void* inout, std::size_t count) {
      check_callback("the operator", function(in, inout, count, context));
    };
    return weft::any_operator(combine, commutes != 0 ? weft::commutes : weft::does_not_commute);
  });
}
void weft_op_free(weft_op* op) { delete op; }
