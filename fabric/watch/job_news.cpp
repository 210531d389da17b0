#include "job_news.hpp"

#include "control_protocol.hpp"

namespace weft::fabric {
namespace {

constexpr std::size_t longest_reason = 512;

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
  newest = sequence;
  notes_.push_back(encode(control_message{
      .kind = control_kind::note, .process = static_cast<std::uint32_t>(origin), .sequence = sequence, .bytes = note}));
  note_bytes_ += notes_.back().size();
  while (note_bytes_ > kept_notes) {
    note_bytes_ -= notes_.front().size();
    notes_.pop_front();
  }
  return notes_.back();
}

job_news::frame job_news::add_note(int self, std::span<const std::byte> note) {
  return learn_note(self, sequences_[static_cast<std::size_t>(self)] + 1, note);
}

job_news::frame job_news::everything() const {
  frame result;
  for (const frame& note : notes_) result.insert(result.end(), note.begin(), note.end());
  for (const frame& end : ends_) result.insert(result.end(), end.begin(), end.end());
  return result;
}

}  // namespace weft::fabric
