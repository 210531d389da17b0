#include "accumulators.hpp"

#include <span>

namespace weft::detail {
namespace {

template <class T>
std::vector<reproducible<T>> accumulate(const void* in, std::size_t count) {
  std::vector<reproducible<T>> all(count);
  kernels::accumulate_each(std::span(static_cast<const T*>(in), count), all.data());
  return all;
}

template <class T>
void write_values(const std::vector<reproducible<T>>& from, void* out) noexcept {
  kernels::value_of_each(std::span(from), static_cast<T*>(out));
}

}  // namespace

accumulators::accumulators(kernels::type numbers, const void* in, std::size_t count) {
  if (numbers == kernels::type::float32)
    all_ = accumulate<float>(in, count);
  else
    all_ = accumulate<double>(in, count);
}

void* accumulators::data() noexcept {
  return std::visit([](auto& all) -> void* { return all.data(); }, all_);
}

kernels::type accumulators::type() const noexcept {
  return all_.index() == 0 ? kernels::type::reproducible_float32 : kernels::type::reproducible_float64;
}

void accumulators::values(void* out) const noexcept {
  std::visit([out](const auto& all) { write_values(all, out); }, all_);
}

}  // namespace weft::detail
