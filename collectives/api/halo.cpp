// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <weft/calls/communicator_state.hpp>
#include <weft/deadline.hpp>
#include <weft/halo.hpp>
#include <weft/runtime/error.hpp>

namespace weft {
namespace {

constexpr int directions = 81;  // of four dimensions, that to nowhere among them

template <class Direction>
Direction direction_of(int number) {
  Direction to;
  for (int& each : to) {
    each = number % 3 - 1;
    number /= 3;
  }
  return to;
}

/// The opposite one has directions - 1 - this.
template <class Direction>
int number_of(const Direction& to) {
  int number = 0;
  for (std::size_t d = to.size(); d-- > 0;) number = 3 * number + to[d] + 1;
  return number;
}

[[noreturn]] void refuse_halo(const std::string& what) { throw error(errc::invalid_count, "halo: " + what); }

/// The bytes of elements that are in one piece.
std::span<std::byte> whole(const buffer& array) {
  if (!detail::is_whole(array))
    throw error(errc::invalid_argument, "halo: elements that do not lie in one piece; they have fields, or gaps");
  return detail::writable_bytes_of(array);
}

}  // namespace

halo::halo(grid& cells, const buffer& array, const given_counts& interior, std::size_t width, corners with)
    : halo(cells, whole(array), array.element().bytes(), interior.all(), width, with) {}

halo::halo(grid& cells, std::span<std::byte> array, std::size_t element_bytes, block_counts interior, std::size_t width,
           corners with)
    : data_(array.data()), element_bytes_(element_bytes) {
  const std::size_t dimensions = cells.shape().dimensions();
  if (interior.size() != dimensions || dimensions > most)
    refuse_halo("an array of " + std::to_string(interior.size()) + " dimensions on a grid of " +
                std::to_string(dimensions) + "; they are as many, and at most " + std::to_string(most));
  const std::size_t first = most - dimensions;
  interior_.fill(1);
  width_.fill(0);
  std::copy(interior.begin(), interior.end(), interior_.begin() + static_cast<std::ptrdiff_t>(first));
  std::fill(width_.begin() + static_cast<std::ptrdiff_t>(first), width_.end(), width);
  const std::size_t room = array.size() / element_bytes;
  std::size_t elements = 1;
  for (std::size_t d = most; d-- > 0;) {
    const std::size_t inside = interior_[d];
    if (static_cast<std::ptrdiff_t>(inside) < 0)
      refuse_halo("an interior of " + std::to_string(static_cast<std::ptrdiff_t>(inside)) + " elements in dimension " +
                  std::to_string(d - first));
    if (d >= first && (width == 0 || inside < width))
      refuse_halo("an interior of " + std::to_string(inside) + " elements in dimension " + std::to_string(d - first) +
                  ", and ghosts of width " + std::to_string(width) + ": it has at least as many, and those at least 1");
    if (inside > room || inside + 2 * width_[d] > room / elements)
      refuse_halo("the array has " + std::to_string(room) + " elements, fewer than its interior and ghosts of width " +
                  std::to_string(width));
    stride_[d] = elements;
    elements *= inside + 2 * width_[d];
  }
  if (elements != room)
    refuse_halo("the array has " + std::to_string(room) + " elements, but its interior and ghosts of width " +
                std::to_string(width) + " have " + std::to_string(elements));

  detail::communicator_state& state = *cells.edges_.state_;
  const detail::sole_call::making mine(state.collecting, state, "halo");
  std::vector<direction> at_once;
  const std::int64_t tags = cells.take_tags();
  for (int number = 0; number < directions; ++number) {
    const auto to = direction_of<direction>(number);
    const auto ways = most - static_cast<std::size_t>(std::ranges::count(to, 0));
    const bool exists =
        std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(first), [](int each) { return each == 0; });
    if (exists && (ways == 1 || (ways > 1 && with == corners::directly))) at_once.push_back(to);
  }
  if (with != corners::by_dimension) {
    phases_.push_back(make_phase(cells, at_once, 0, tags));
    return;
  }
  for (std::size_t d = first; d < most; ++d) {
    std::vector<direction> both;
    std::ranges::copy_if(at_once, std::back_inserter(both), [&](const direction& to) { return to[d] != 0; });
    phases_.push_back(make_phase(cells, both, d, tags));
  }
}

halo::part halo::part_of(const direction& to, std::size_t done, bool ghosts) const {
  part its{data_, detail::layout::run(element_bytes_)};
  for (std::size_t d = most; d-- > 0;) {
    const std::size_t inside = interior_[d], width = width_[d], stride = stride_[d] * element_bytes_;
    const std::size_t begin = to[d] < 0   ? (ghosts ? 0 : width)
                              : to[d] > 0 ? (ghosts ? inside + width : inside)
                              : d < done  ? 0
                                          : width;
    const std::size_t extent = to[d] != 0 ? width : d < done ? inside + 2 * width : inside;
    its.at += begin * stride;
    its.lies = detail::layout::repeated(its.lies, extent, static_cast<std::ptrdiff_t>(stride));
  }
  return its;
}

halo::phase halo::make_phase(grid& cells, std::span<const direction> to, std::size_t done, std::int64_t tags) const {
  phase made;
  std::vector<detail::edge_message> messages;
  const std::size_t first = most - cells.shape().dimensions();
  for (const direction& each : to) {
    std::vector<int> at = cells.coordinates();
    for (std::size_t d = first; d < most; ++d) at[d - first] += each[d];
    const auto neighbor = cells.shape().rank_at(at);
    if (!neighbor) continue;
    const int number = number_of(each);
    made.sent.push_back(part_of(each, done, false));
    made.received.push_back(part_of(each, done, true));
    const std::size_t bytes = made.sent.back().lies.bytes();
    messages.push_back({true, *neighbor, tags + directions - 1 - number, nullptr, bytes});
    messages.push_back({false, *neighbor, tags + number, nullptr, bytes});
  }
  std::size_t bytes = 0;
  for (const part& each : made.sent) bytes += each.lies.bytes();
  made.out.resize(bytes);
  made.in.resize(bytes);
  std::byte *out = made.out.data(), *in = made.in.data();
  for (detail::edge_message& each : messages) {
    std::byte*& next = each.is_send ? out : in;
    each.data = next;
    next += each.bytes;
  }
  made.messages = cells.plan_messages("halo", messages);
  return made;
}

void halo::begin(phase& which) {
  std::byte* to = which.out.data();
  for (const part& each : which.sent) {
    each.lies.pack(to, each.at, 0, each.lies.bytes());
    to += each.lies.bytes();
  }
  which.messages.start();
}

void halo::end(phase& which) {
  const std::byte* from = which.in.data();
  for (const part& each : which.received) {
    each.lies.unpack(each.at, 0, from, each.lies.bytes());
    from += each.lies.bytes();
  }
}

void halo::start() {
  if (started_) throw error(errc::invalid_argument, "halo: it is in flight: wait for it before it is started again");
  now_ = 0;
  if (!phases_.empty()) begin(phases_[0]);
  started_ = true;
}

/// Goes on with the phases as long as `is_over` says that one is.
template <class IsOver>
bool halo::go_on(const IsOver& is_over) {
  if (!started_) throw error(errc::invalid_argument, "halo: it has not been started since it was last waited for");
  try {
    for (; now_ < phases_.size(); ++now_) {
      if (!is_over(phases_[now_].messages)) return false;
      end(phases_[now_]);
      if (now_ + 1 < phases_.size()) begin(phases_[now_ + 1]);
    }
  } catch (const timed_out&) {
    throw;
  } catch (...) {
    started_ = false;
    throw;
  }
  started_ = false;
  return true;
}

bool halo::test() {
  return go_on([](plan& messages) { return messages.test(); });
}

void halo::wait() {
  go_on([](plan& messages) {
    messages.wait();
    return true;
  });
}

}  // namespace weft
