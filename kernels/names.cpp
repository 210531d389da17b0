#include <array>

#include "weft/kernels/combine.hpp"

namespace weft::kernels {
namespace {

constexpr std::array<std::string_view, 4> operation_names{"sum", "product", "min", "max"};
constexpr std::array<std::string_view, 4> type_names{"float", "double", "int32", "int64"};
constexpr std::array<std::size_t, 4> type_sizes{4, 8, 4, 8};

/// The enumerator of E that stands at the place of `text` in `names`.
template <class E, std::size_t N>
std::optional<E> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

std::size_t size_of(type element) noexcept { return type_sizes[static_cast<std::size_t>(element)]; }

std::string_view name(operation combined_by) noexcept { return operation_names[static_cast<std::size_t>(combined_by)]; }
std::string_view name(type element) noexcept { return type_names[static_cast<std::size_t>(element)]; }

std::optional<operation> find_operation(std::string_view text) noexcept {
  return find<operation>(operation_names, text);
}
std::optional<type> find_type(std::string_view text) noexcept { return find<type>(type_names, text); }

}  // namespace weft::kernels
