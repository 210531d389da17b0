// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include "handles.hpp"

namespace weft::c {
namespace {

using kernels::type;
using weft::detail::window_target;
using weft::detail::window_type;
using weft::detail::window_type_of;

/// Of elements that have atomic operations; else that of bytes.
const window_type& table_of(std::optional<type> builtin) {
  if (builtin) switch (*builtin) {
      case type::int8:
        return window_type_of<std::int8_t>;
      case type::int16:
        return window_type_of<std::int16_t>;
      case type::int32:
        return window_type_of<std::int32_t>;
      case type::int64:
        return window_type_of<std::int64_t>;
      case type::uint8:
        return window_type_of<std::uint8_t>;
      case type::uint16:
        return window_type_of<std::uint16_t>;
      case type::uint32:
        return window_type_of<std::uint32_t>;
      case type::uint64:
        return window_type_of<std::uint64_t>;
      case type::boolean:
        return window_type_of<bool>;
      case type::float32:
        return window_type_of<float>;
      case type::float64:
        return window_type_of<double>;
      default:
        break;
    }
  return window_type_of<std::byte>;
}

}  // namespace
}  // namespace weft::c

using namespace weft::c;

struct weft_window {
  weft_window(weft::communicator& of, std::size_t count, const weft::type& element, std::size_t slots)
      : type(table_of(element.builtin())),
        element_bytes(element.bytes()),
        scale(element_bytes / type.bytes),
        base(of, type, scaled(count), slots) {}

  /// Elements of `type`; of more than there can be, the most.
  std::size_t scaled(std::size_t count) const noexcept {
    std::size_t all;
    return __builtin_mul_overflow(count, scale, &all) ? std::numeric_limits<std::size_t>::max() : all;
  }
  const window_target& find(const char* operation, int rank, std::size_t offset, std::size_t count) const {
    return base.find(operation, rank, scaled(offset), scaled(count));
  }
  std::byte* element(const window_target& of, std::size_t offset) const noexcept {
    return of.elements + offset * element_bytes;
  }
  std::span<const std::byte> read(const char* operation, const void* data, std::size_t count) const {
    check_memory(operation, data, count);
    return {static_cast<const std::byte*>(data), count * element_bytes};
  }
  std::span<std::byte> written(const char* operation, void* data, std::size_t count) const {
    check_memory(operation, data, count);
    return {static_cast<std::byte*>(data), count * element_bytes};
  }
  static void check_memory(const char* operation, const void* data, std::size_t count) {
    if (data == nullptr && count != 0)
      throw weft::error(weft::errc::invalid_buffer,
                        std::string(operation) + ": " + std::to_string(count) + " elements at NULL");
  }
  weft::detail::window_operator number(const weft_op* op, const char* operation) const {
    if (type.combine != nullptr && at(op, "op").of_windows) return *op->of_windows;
    refuse(operation);
  }
  [[noreturn]] static void refuse(const char* operation) {
    throw weft::error(weft::errc::invalid_argument,
                      std::string(operation) +
                          ": atomic are the built-in operators of integers, bool, float and double, and WEFT_REPLACE");
  }

  const window_type& type;
  std::size_t element_bytes;
  std::size_t scale;  ///< elements of `type` in one
  weft::detail::window_base base;
};

int weft_window_create(weft_comm* comm, size_t count, const weft_type* type, size_t slots, weft_window** window) {
  return guarded([&] {
    weft_window*& place = at(window, "the place of the window");
    if (!of(type).is_contiguous())
      throw weft::error(weft::errc::invalid_argument, "a window of elements that do not lie in one piece");
    place = new weft_window(of(comm), count, of(type), slots);
  });
}
int weft_window_free(weft_window* window) {
  return guarded([&] { delete window; });
}
void* weft_window_local(const weft_window* window) { return window != nullptr ? window->base.local() : nullptr; }
size_t weft_window_slots(const weft_window* window) { return window != nullptr ? window->base.slots() : 0; }
int weft_window_shares(const weft_window* window, int rank, int* shares) {
  return guarded([&] { at(shares, "shares") = at(window, "window").base.shares(rank); });
}
int weft_window_count(const weft_window* window, int rank, size_t* count) {
  return guarded([&] {
    const weft_window& its = at(window, "window");
    at(count, "count") = its.base.count_at(rank) / its.scale;
  });
}

int weft_put(weft_window* window, int rank, size_t offset, const void* data, size_t count) {
  return guarded([&] {
    weft_window& its = at(window, "window");
    const window_target& to = its.find("put", rank, offset, count);
    const auto bytes = its.read("put", data, count);
    if (to.elements == nullptr) return its.base.put_far(rank, offset * its.scale, bytes);
    weft::detail::copy_elements(its.element(to, offset), bytes.data(), bytes.size());
  });
}

int weft_get(weft_window* window, int rank, size_t offset, void* into, size_t count) {
  return guarded([&] {
    weft_window& its = at(window, "window");
    const window_target& from = its.find("get", rank, offset, count);
    const auto bytes = its.written("get", into, count);
    if (from.elements == nullptr) return its.base.get_far(rank, offset * its.scale, bytes);
    weft::detail::copy_elements(bytes.data(), its.element(from, offset), bytes.size());
  });
}

int weft_put_notify(weft_window* window, int rank, size_t offset, const void* data, size_t count, size_t slot) {
  return guarded([&] {
    weft_window& its = at(window, "window");
    its.base.check_slot("put_notify", slot);
    const window_target& to = its.find("put_notify", rank, offset, count);
    const auto bytes = its.read("put_notify", data, count);
    if (to.elements == nullptr) {
      its.base.put_far(rank, offset * its.scale, bytes);
      return its.base.notify_far(rank, slot);
    }
    weft::detail::copy_elements(its.element(to, offset), bytes.data(), bytes.size());
    its.base.notify_near(to, slot);
  });
}

int weft_wait_notified(weft_window* window, size_t slot, uint32_t count) {
  return guarded([&] { at(window, "window").base.wait_notified(slot, count); });
}

int weft_accumulate(weft_window* window, int rank, size_t offset, const void* data, size_t count, const weft_op* op) {
  return guarded([&] {
    weft_window& its = at(window, "window");
    const auto by = its.number(op, "accumulate");
    const window_target& to = its.find("accumulate", rank, offset, count);
    const auto operands = its.read("accumulate", data, count);
    if (to.elements == nullptr) return its.base.accumulate_far(rank, offset, operands, by);
    if (!its.type.combine(by, its.element(to, offset), operands.data(), count)) its.refuse("accumulate");
  });
}

int weft_fetch_and_op(weft_window* window, int rank, size_t offset, const void* value, void* before,
                      const weft_op* op) {
  return guarded([&] {
    weft_window& its = at(window, "window");
    const auto by = its.number(op, "fetch_and_op");
    const window_target& to = its.find("fetch_and_op", rank, offset, 1);
    const std::byte* const operand = its.read("fetch_and_op", value, 1).data();
    std::byte* const was = its.written("fetch_and_op", before, 1).data();
    if (to.elements == nullptr) return its.base.fetch_far(rank, offset, operand, by, was);
    if (!its.type.fetch(by, its.element(to, offset), operand, was)) its.refuse("fetch_and_op");
  });
}

int weft_compare_and_swap(weft_window* window, int rank, size_t offset, const void* expected, const void* desired,
                          void* before) {
  return guarded([&] {
    weft_window& its = at(window, "window");
    if (its.type.compare == nullptr) its.refuse("compare_and_swap");
    const window_target& to = its.find("compare_and_swap", rank, offset, 1);
    const std::byte* const old_one = its.read("compare_and_swap", expected, 1).data();
    const std::byte* const new_one = its.read("compare_and_swap", desired, 1).data();
    std::byte* const was = its.written("compare_and_swap", before, 1).data();
    if (to.elements == nullptr) return its.base.compare_far(rank, offset, old_one, new_one, was);
    its.type.compare(its.element(to, offset), old_one, new_one, was);
  });
}

int weft_flush(weft_window* window, int rank) {
  return guarded([&] { at(window, "window").base.flush(rank); });
}
int weft_flush_all(weft_window* window) {
  return guarded([&] { at(window, "window").base.flush_all(); });
}
int weft_fence(weft_window* window) {
  return guarded([&] { at(window, "window").base.fence(); });
}

namespace {

weft::lock_mode mode_of(int exclusive) noexcept {
  return exclusive != 0 ? weft::lock_mode::exclusive : weft::lock_mode::shared;
}

}  // namespace

int weft_lock(weft_window* window, int rank, int exclusive) {
  return guarded([&] { at(window, "window").base.lock(rank, mode_of(exclusive)); });
}
int weft_unlock(weft_window* window, int rank, int exclusive) {
  return guarded([&] { at(window, "window").base.unlock(rank, mode_of(exclusive)); });
}
int weft_lock_all(weft_window* window) {
  return guarded([&] { at(window, "window").base.lock_all(); });
}
int weft_unlock_all(weft_window* window) {
  return guarded([&] { at(window, "window").base.unlock_all(); });
}
