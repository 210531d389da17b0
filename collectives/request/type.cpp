// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <weft/array_view.hpp>
#include <weft/request.hpp>
#include <weft/runtime/copy_bytes.hpp>

namespace weft {

using detail::layout;
using detail::spread;

type::type(kernels::type builtin) noexcept
    : bytes_(kernels::size_of(builtin)), extent_(static_cast<std::ptrdiff_t>(bytes_)), builtin_(builtin) {}

type::type(layout as, std::ptrdiff_t extent) : bytes_(as.bytes()), extent_(extent) {
  if (bytes_ == 0) throw error(errc::invalid_argument, "a type without data: it has no fields, or none of an element");
  if (extent == 0) throw error(errc::invalid_argument, "a type of extent 0: all its elements would be in one place");
  if (!as.is_run() || extent != static_cast<std::ptrdiff_t>(bytes_))
    spread_ = std::make_shared<const spread>(spread{std::move(as), extent});
}

type type::opaque(std::size_t bytes) { return {layout::run(bytes), static_cast<std::ptrdiff_t>(bytes)}; }

layout type::its_layout() const { return spread_ == nullptr ? layout::run(bytes_) : spread_->as; }

type type::record(std::span<const field> fields, std::size_t extent) {
  layout all;
  for (const field& each : fields)
    all.add(layout::repeated(each.of.its_layout(), each.count, each.of.extent_), each.offset);
  return {std::move(all), static_cast<std::ptrdiff_t>(extent)};
}

type type::repeated(std::size_t count, std::ptrdiff_t stride) const {
  layout all = layout::repeated(its_layout(), count, stride == 0 ? extent_ : stride);
  const std::ptrdiff_t extent = all.end();
  return {std::move(all), extent};
}

type type::resized(std::ptrdiff_t extent) const { return {its_layout(), extent}; }

std::ptrdiff_t type::lowest() const noexcept { return spread_ == nullptr ? 0 : spread_->as.lowest(); }
std::ptrdiff_t type::end() const noexcept { return spread_ == nullptr ? extent_ : spread_->as.end(); }

void type::pack(void* to, const void* from, std::size_t count) const noexcept {
  if (spread_ == nullptr) return copy_bytes(to, from, count * bytes_);
  spread_->as.pack(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), extent_, count * bytes_);
}

void type::unpack(void* to, const void* from, std::size_t count) const noexcept {
  if (spread_ == nullptr) return copy_bytes(to, from, count * bytes_);
  spread_->as.unpack(static_cast<std::byte*>(to), extent_, static_cast<const std::byte*>(from), count * bytes_);
}

namespace {

std::string text(const type& of) {
  return of.builtin() ? std::string(kernels::name(*of.builtin())) : std::to_string(of.bytes()) + " bytes";
}

}  // namespace

void detail::check_same_elements(request& call, const type& in, const type& out) {
  if (in.bytes() == out.bytes() && (!in.builtin() || !out.builtin() || in.builtin() == out.builtin())) return;
  call.refuse(errc::invalid_argument,
              "input and output are of different types: elements of " + text(in) + ", and of " + text(out));
}

kernels::type detail::builtin_type_of(request& call, const type& of) {
  if (of.builtin()) return *of.builtin();
  call.refuse(errc::invalid_operator, "a built-in operator on elements of " + text(of) +
                                          ": it takes numbers alone; for others there is weft::any_operator");
  return call.type;
}

void detail::by_operator::check_summable(request& call) {
  if (call.type == kernels::type::float32 || call.type == kernels::type::float64) return;
  call.refuse(errc::invalid_operator,
              "reproducible_sum on " + std::string(kernels::name(call.type)) + ": it takes float and double");
}

void detail::refuse_view(const std::string& why) { throw error(errc::invalid_argument, why); }

std::shared_ptr<const spread> detail::spread_of_view(std::size_t element_bytes, std::span<const std::size_t> extents,
                                                     std::span<const std::ptrdiff_t> strides) {
  const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
  layout all = layout::run(element_bytes);
  for (std::size_t d = extents.size(); d-- != 0;) all = layout::repeated(all, extents[d], strides[d] * bytes);
  const std::ptrdiff_t extent = all.end();
  return std::make_shared<const spread>(spread{std::move(all), extent});
}

}  // namespace weft
