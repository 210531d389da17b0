// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <weft/layout.hpp>
#include <weft/runtime/copy_bytes.hpp>

namespace weft::detail {
namespace {

/// Copies `rounds` runs of `Bytes` bytes; of `bytes` where it is 0.
template <std::size_t Bytes, bool Packs>
void copy_runs(std::byte* packed, std::byte* lies, std::size_t rounds, std::ptrdiff_t stride,
               std::size_t bytes) noexcept {
  for (; rounds != 0; --rounds, lies += stride) {
    std::byte* const to = Packs ? packed : lies;
    const std::byte* const from = Packs ? lies : packed;
    if constexpr (Bytes == 0) {
      copy_bytes(to, from, bytes);
      packed += bytes;
    } else {
      std::memcpy(to, from, Bytes);
      packed += Bytes;
    }
  }
}

template <bool Packs>
void copy_runs(std::byte* packed, std::byte* lies, std::size_t rounds, std::ptrdiff_t stride,
               std::size_t bytes) noexcept {
  switch (bytes) {
    case 4:
      return copy_runs<4, Packs>(packed, lies, rounds, stride, bytes);
    case 8:
      return copy_runs<8, Packs>(packed, lies, rounds, stride, bytes);
    case 16:
      return copy_runs<16, Packs>(packed, lies, rounds, stride, bytes);
    default:
      return copy_runs<0, Packs>(packed, lies, rounds, stride, bytes);
  }
}

}  // namespace

layout layout::run(std::size_t bytes) {
  layout made;
  if (bytes != 0) made.append({.bytes = bytes});
  made.bytes_ = bytes;
  made.end_ = static_cast<std::ptrdiff_t>(bytes);
  return made;
}

layout layout::repeated(const layout& element, std::size_t count, std::ptrdiff_t stride) {
  layout made;
  if (count == 0 || element.bytes_ == 0) return made;
  const bool one_run = element.steps_.size() == 1 && element.steps_[0].rounds == 1;
  if (count == 1) {
    made.steps_ = element.steps_;
    made.last_ = element.last_;
  } else if (one_run && stride == static_cast<std::ptrdiff_t>(element.bytes_)) {
    made.append({.at = element.steps_[0].at, .bytes = count * element.bytes_});
  } else if (one_run) {
    made.append({.at = element.steps_[0].at, .bytes = element.bytes_, .rounds = count, .stride = stride});
  } else {
    made.steps_.push_back({.rounds = count, .stride = stride, .body = element.steps_.size()});
    made.steps_.insert(made.steps_.end(), element.steps_.begin(), element.steps_.end());
  }
  const std::ptrdiff_t last = stride * static_cast<std::ptrdiff_t>(count - 1);
  made.bytes_ = count * element.bytes_;
  made.lowest_ = element.lowest_ + std::min<std::ptrdiff_t>(last, 0);
  made.end_ = element.end_ + std::max<std::ptrdiff_t>(last, 0);
  return made;
}

void layout::add(const layout& element, std::ptrdiff_t offset) {
  if (element.bytes_ == 0) return;
  steps_.reserve(steps_.size() + element.steps_.size());
  for (std::size_t i = 0; i < element.steps_.size(); i += 1 + element.steps_[i].body) {
    step moved = element.steps_[i];
    moved.at += offset;
    append(moved);
    const auto body = element.steps_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    steps_.insert(steps_.end(), body, body + static_cast<std::ptrdiff_t>(moved.body));
  }
  lowest_ = bytes_ == 0 ? element.lowest_ + offset : std::min(lowest_, element.lowest_ + offset);
  end_ = bytes_ == 0 ? element.end_ + offset : std::max(end_, element.end_ + offset);
  bytes_ += element.bytes_;
}

/// A run that follows another one at once is that one's end.
void layout::append(const step& next) {
  const auto is_one = [](const step& some) { return some.body == 0 && some.rounds == 1; };
  if (!steps_.empty() && is_one(steps_[last_]) && is_one(next) &&
      next.at == steps_[last_].at + static_cast<std::ptrdiff_t>(steps_[last_].bytes)) {
    steps_[last_].bytes += next.bytes;
    return;
  }
  last_ = steps_.size();
  steps_.push_back(next);
}

template <bool Packs>
void layout::walk(std::span<const step> steps, std::byte*& packed, std::byte* lies, std::size_t& left) noexcept {
  for (std::size_t i = 0; i < steps.size() && left != 0; i += 1 + steps[i].body) {
    const step& next = steps[i];
    std::byte* at = lies + next.at;
    if (next.body != 0) {
      for (std::size_t round = 0; round < next.rounds && left != 0; ++round, at += next.stride)
        walk<Packs>(steps.subspan(i + 1, next.body), packed, at, left);
      continue;
    }
    const std::size_t whole = std::min(next.rounds, left / next.bytes);
    copy_runs<Packs>(packed, at, whole, next.stride, next.bytes);
    packed += whole * next.bytes;
    left -= whole * next.bytes;
    if (whole == next.rounds) continue;
    copy_runs<Packs>(packed, at + static_cast<std::ptrdiff_t>(whole) * next.stride, 1, 0, left);
    left = 0;
  }
}

template <bool Packs>
void layout::copy(std::byte* packed, std::byte* lies, std::ptrdiff_t extent, std::size_t bytes) const noexcept {
  if (bytes_ == 0) return;
  if (steps_.size() == 1 && steps_[0].rounds == 1) {  // the elements are the rounds
    const step all{.at = steps_[0].at, .bytes = bytes_, .rounds = bytes / bytes_ + 1, .stride = extent};
    return walk<Packs>({&all, 1}, packed, lies, bytes);
  }
  for (; bytes != 0; lies += extent) walk<Packs>(steps_, packed, lies, bytes);
}

void layout::pack(std::byte* to, const std::byte* from, std::ptrdiff_t extent, std::size_t bytes) const noexcept {
  copy<true>(to, const_cast<std::byte*>(from), extent, bytes);  // which is only read
}

void layout::unpack(std::byte* to, std::ptrdiff_t extent, const std::byte* from, std::size_t bytes) const noexcept {
  copy<false>(const_cast<std::byte*>(from), to, extent, bytes);
}

}  // namespace weft::detail
