// SPDX-License-Identifier: Apache-2.0
#include "job_news.hpp"

#include <array>
#include <weft/fabric/wire_bytes.hpp>

#include "control_protocol.hpp"

namespace weft::fabric {
namespace {

constexpr std::size_t longest_reason = 512;

std::size_t size_of_first(const boost::circular_buffer<std::byte>& messages) {
  const std::array length{messages[0], messages[1]};
  return length.size() + byte_reader(length).number<std::uint16_t>();
}

}  // namespace

std::string job_news::reason(int process) const {
  const std::lock_guard lock(mutex_);
  return reasons_[static_cast<std::size_t>(process)];
}

job_news::frame job_news::learn_lost(int process, std::string reason) {
  if (!alive(process)) return {};
  if (reason.size() > longest_reason) reason.resize(longest_reason);
  ends_.push_back(encode(control_message{.kind = control_kind::lost,
                                         .process = static_cast<std::uint32_t>(process),
                                         .bytes = std::as_bytes(std::span(reason))}));
  const std::lock_guard lock(mutex_);
  reasons_[static_cast<std::size_t>(process)] = std::move(reason);
  fates_[static_cast<std::size_t>(process)] = fate::lost;
  return ends_.back();
}

job_news::frame job_news::learn_left(int process) {
  if (!alive(process)) return {};
  ends_.push_back(encode(control_message{.kind = control_kind::left, .process = static_cast<std::uint32_t>(process)}));
  fates_[static_cast<std::size_t>(process)] = fate::left;
  return ends_.back();
}

job_news::frame job_news::learn_note(int origin, std::uint64_t sequence, std::span<const std::byte> note) {
  std::uint64_t& newest = sequences_[static_cast<std::size_t>(origin)];
  if (sequence <= newest) return {};
  frame learned = encode(control_message{
      .kind = control_kind::note, .process = static_cast<std::uint32_t>(origin), .sequence = sequence, .bytes = note});
  keep(learned);
  newest = sequence;
  return learned;
}

void job_news::keep(const frame& note) {
  if (notes_.capacity() == 0) notes_.set_capacity(kept_notes);
  while (notes_.reserve() < note.size()) notes_.erase_begin(size_of_first(notes_));
  notes_.insert(notes_.end(), note.begin(), note.end());
}

job_news::frame job_news::add_note(int self, std::span<const std::byte> note) {
  return learn_note(self, sequences_[static_cast<std::size_t>(self)] + 1, note);
}

job_news::frame job_news::everything() const {
  frame result(notes_.begin(), notes_.end());
  for (const frame& end : ends_) result.insert(result.end(), end.begin(), end.end());
  return result;
}

}  // namespace weft::fabric
