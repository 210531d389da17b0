// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <weft/fabric/arena_ring.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

/// Of a ring at first.
constexpr std::size_t first_bytes = 4 << 10;

/// In place of a record: the next one is at the beginning.
constexpr std::uint8_t go_back = 0xff;

std::atomic_ref<std::uint64_t> word_at(std::byte* place) noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(place));
}

/// Bits of a record's word that say how long it is, and those below its number.
constexpr int length_bits = 24, number_at = 32;
static_assert(arena_ring_bytes <= std::size_t{1} << length_bits);

std::uint64_t word_of(std::uint32_t number, std::uint8_t kind, std::size_t bytes) noexcept {
  return std::uint64_t{number} << number_at | std::uint64_t{kind} << length_bits | bytes;
}
std::uint8_t kind_in(std::uint64_t word) noexcept { return static_cast<std::uint8_t>(word >> length_bits); }

/// Whether it is that record's, and not nothing or what stood there in the lap before.
bool is_of(std::uint64_t word, std::uint32_t number) noexcept {
  return static_cast<std::uint32_t>(word >> number_at) == number && kind_in(word) != 0;
}

}  // namespace

arena_ring_writer::arena_ring_writer(std::byte* memory, arena_ring_state& state, const arena_ring_reading& reading,
                                     std::function<bool(std::size_t, std::size_t)> reserve)
    : memory_(memory), state_(state), reading_(reading), reserve_(std::move(reserve)) {
  begins_.fill(true);
}

bool arena_ring_writer::put(std::uint8_t kind, std::span<const std::byte> first, std::span<const std::byte> second) {
  const std::size_t bytes = first.size() + second.size();
  std::byte* const room = room_for(bytes);
  if (room == nullptr) return false;
  copy_bytes_to_reader(room, first.data(), first.size());
  copy_bytes_to_reader(room + first.size(), second.data(), second.size());
  publish(kind, bytes);
  return true;
}

std::byte* arena_ring_writer::room_for(std::size_t bytes) {
  return make_room(place_of(bytes), arena_ring_bytes) ? memory_ + offset_ + word_bytes : nullptr;
}

void arena_ring_writer::publish(std::uint8_t kind, std::size_t bytes) noexcept {
  const std::size_t place = place_of(bytes);
  std::byte* const at = memory_ + offset_;
  note_record(place);
  // A line comes from the reader's core; stores leave in their order, so that those behind would wait for it.
  detail::ask_for_writing(at + lines_ahead * line_bytes);
  offset_ += place;
  // Where a record began a lap ago its number says that it is no new one: the line need not come here for that.
  // relaxed: the reader looks there behind this record, whose word follows.
  if (!begins_record(offset_)) word_at(memory_ + offset_).store(0, std::memory_order_relaxed);
  // release: pairs with the acquire in next(): the record is there then, and the next one's word is 0 or an old one.
  word_at(at).store(word_of(number_++, kind, bytes), std::memory_order_release);
}

/// Whether all that the reader can find at that place is 0 or an earlier record's word, of this lap or the one before.
bool arena_ring_writer::begins_record(std::size_t offset) const noexcept {
  return offset < usual_bytes && begins_[offset / line_bytes];
}

/// One begins here, and takes so many bytes.
void arena_ring_writer::note_record(std::size_t place) noexcept {
  const std::size_t first = offset_ / line_bytes;
  if (first >= begins_.size()) return;
  begins_[first] = true;
  const std::size_t more = std::min(place / line_bytes, begins_.size() - first) - 1;
  if (more != 0) std::memset(begins_.data() + first + 1, 0, more);
}

void arena_ring_writer::end() noexcept {
  state_.ended.store(1, std::memory_order_relaxed);
  // release: who has read what is written to that memory from now on finds this; see ended().
  std::atomic_thread_fence(std::memory_order_release);
}

bool arena_ring_writer::fits_behind_reader(std::size_t bytes) const noexcept {
  return bytes + line_bytes <= reader_offset_;  // never up to the reader's own place, whose word it looks at
}

/// Room for a record's place, and the word behind it.
bool arena_ring_writer::make_room(std::size_t bytes, std::size_t within) {
  const std::size_t end = offset_ + bytes + line_bytes;
  if (reader_lap_ != lap_) {  // it has the rest of the lap before to read, which begins where this one must end
    if (end <= reader_offset_) return true;
    look_at_reader();
    if (reader_lap_ != lap_) return end <= reader_offset_;
  }
  if (end <= std::min(reserved_, usual_bytes)) [[likely]]
    return true;
  look_at_reader();
  // From there on it has room up to the reader's place: where that is not far, rather more memory than none soon.
  const bool fits = fits_behind_reader(bytes);
  if (!fits || (2 * reader_offset_ < offset_ && end <= within)) try {
      if (end <= within && (end <= reserved_ || grow(end))) return true;
      if (!fits) return false;
    } catch (const std::exception&) {  // there is no memory for more
      if (!fits) throw;
    }
  begin_again();
  return true;
}

std::size_t arena_ring_writer::least_bytes(std::size_t longest) noexcept {
  return std::min(arena_ring_bytes, std::max(usual_bytes, std::bit_ceil(2 * (place_of(longest) + line_bytes))));
}

bool arena_ring_writer::grow(std::size_t end) {
  std::size_t wanted = std::max(reserved_, first_bytes);
  while (wanted < end) wanted = wanted < usual_bytes ? usual_bytes : 2 * wanted;
  if (!reserve_(reserved_, wanted - reserved_)) return false;
  reserved_ = wanted;
  // release: pairs with the acquire in next(): the memory is there then.
  state_.opened.store(1, std::memory_order_release);
  return true;
}

void arena_ring_writer::look_at_reader() noexcept {
  // acquire: pairs with release(): the reader does not look at what is before that place any more.
  const std::uint64_t now = reading_.position.load(std::memory_order_acquire);
  reader_lap_ = static_cast<std::uint32_t>(now >> 32);
  reader_offset_ = static_cast<std::uint32_t>(now);
}

void arena_ring_writer::begin_again() noexcept {
  note_record(begins_.size() * line_bytes);  // what the lap does not come to is of an earlier one the next time
  // relaxed: it hands nothing over. At the beginning is an earlier record's word, as all lines' there.
  word_at(memory_ + offset_).store(word_of(number_++, go_back, 0), std::memory_order_relaxed);
  offset_ = 0;
  ++lap_;
}

arena_ring_reader::record arena_ring_reader::next() {
  if (!opened_) {
    // acquire: pairs with grow().
    if (state_.opened.load(std::memory_order_acquire) == 0) return {};
    opened_ = true;
  }
  // acquire: pairs with put() and begin_again().
  const auto word = [&] { return word_at(const_cast<std::byte*>(memory_) + offset_).load(std::memory_order_acquire); };
  std::uint64_t found = word();
  if (!is_of(found, number_)) [[likely]]
    return {};
  if (found == word_of(number_, go_back, 0)) {
    ++lap_;
    offset_ = 0;
    found = word();
    if (!is_of(found, ++number_)) return {};
  }
  const std::uint8_t kind = kind_in(found);
  const std::size_t bytes = found & ((std::uint64_t{1} << length_bits) - 1);
  const std::size_t begin = offset_ + arena_ring_writer::word_bytes, end = offset_ + arena_ring_writer::place_of(bytes);
  if (kind == go_back || end + arena_ring_writer::line_bytes > arena_ring_bytes)  // behind it is the next one's word
    throw error(errc::protocol, "a ring of the node's memory holds no record at " + std::to_string(offset_));
  offset_ = end;
  ++number_;
  return {kind, {memory_ + begin, bytes}};
}

void arena_ring_reader::release() noexcept {
  // release: pairs with look_at_reader(): what has been read so far is not looked at again.
  reading_.position.store(std::uint64_t{lap_} << 32 | offset_, std::memory_order_release);
}

bool arena_ring_reader::ended() const noexcept {
  // acquire: pairs with the release in end(), by what has been read before.
  std::atomic_thread_fence(std::memory_order_acquire);
  return state_.ended.load(std::memory_order_relaxed) != 0;
}

}  // namespace weft::fabric
