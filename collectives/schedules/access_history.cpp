// SPDX-License-Identifier: Apache-2.0
#include "access_history.hpp"

#include <algorithm>
#include <bit>

namespace weft::schedules {
namespace {

constexpr std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << number % 64; }
/// Bits 0 to number % 64, and number % 64 to 63.
constexpr std::uint64_t bits_to(std::uint32_t number) { return ~std::uint64_t{0} >> (63 - number % 64); }
constexpr std::uint64_t bits_from(std::uint32_t number) { return ~std::uint64_t{0} << number % 64; }
std::uint32_t lowest(std::uint64_t word) { return static_cast<std::uint32_t>(std::countr_zero(word)); }
std::uint32_t highest(std::uint64_t word) { return static_cast<std::uint32_t>(std::bit_width(word)) - 1; }

}  // namespace

void block_set_index::insert(std::uint32_t block) {
  const std::size_t word = block / 64;
  if (word >= words_.size()) {
    words_.resize(std::max(word + 1, 2 * words_.size()));
    full_.resize(words_.size() / 64 + 1);
  }
  words_[word] |= bit(block);
  full_[word / 64] |= bit(block / 64);
}

void block_set_index::erase(std::uint32_t block) {
  words_[block / 64] &= ~bit(block);
  if (words_[block / 64] == 0) full_[block / 64 / 64] &= ~bit(block / 64);
}

std::uint32_t block_set_index::last_to(std::uint32_t block) const {
  if (words_.empty()) return none;
  std::uint32_t word = block / 64;
  std::uint64_t mask = bits_to(block);
  if (word >= words_.size()) {
    word = static_cast<std::uint32_t>(words_.size() - 1);
    mask = ~std::uint64_t{0};
  }
  if (const std::uint64_t here = words_[word] & mask; here != 0) return word * 64 + highest(here);
  std::uint32_t group = word / 64;
  std::uint64_t before = full_[group] & (bits_to(word) ^ bit(word));
  while (before == 0) {
    if (group-- == 0) return none;
    before = full_[group];
  }
  word = group * 64 + highest(before);
  return word * 64 + highest(words_[word]);
}

std::uint32_t block_set_index::first_from(std::uint32_t block) const {
  std::uint32_t word = block / 64;
  if (word >= words_.size()) return none;
  if (const std::uint64_t here = words_[word] & bits_from(block); here != 0) return word * 64 + lowest(here);
  std::uint32_t group = word / 64;
  std::uint64_t after = full_[group] & (bits_from(word) ^ bit(word));
  while (after == 0) {
    if (++group == full_.size()) return none;
    after = full_[group];
  }
  word = group * 64 + lowest(after);
  return word * 64 + lowest(words_[word]);
}

std::uint32_t access_history::linked(step_index step, std::uint32_t next) {
  if (unused_ == no_reader) {
    readers_.push_back({step, next});
    return static_cast<std::uint32_t>(readers_.size() - 1);
  }
  const std::uint32_t here = unused_;
  unused_ = readers_[here].next;
  readers_[here] = {step, next};
  return here;
}

std::uint32_t access_history::copied(std::uint32_t readers) {
  std::uint32_t copy = no_reader;
  for (; readers != no_reader; readers = readers_[readers].next) copy = linked(readers_[readers].step, copy);
  return copy;
}

void access_history::release(use& of) {
  while (of.readers != no_reader) {
    const std::uint32_t next = readers_[of.readers].next;
    readers_[of.readers].next = unused_;
    unused_ = std::exchange(of.readers, next);
  }
}

access_history::use& access_history::insert(std::uint32_t first, const use& what) {
  firsts_.insert(first);
  if (first / page_blocks >= pages_.size()) pages_.resize(first / page_blocks + 1);
  auto& page_of_it = pages_[first / page_blocks];
  if (page_of_it == nullptr) page_of_it = std::make_unique<page>();
  return at(first) = what;
}

void access_history::split(std::uint32_t block) {
  const std::uint32_t first = firsts_.last_to(block);
  if (first == block_set_index::none || first == block || at(first).end <= block) return;
  use& head = at(first);
  const use tail{head.end, head.writer, copied(head.readers)};
  head.end = block;
  insert(block, tail);
}

std::span<access_history::use* const> access_history::pieces(block_range blocks) {
  found_.clear();
  if (blocks.count == 0) return found_;
  const std::uint32_t end = blocks.first + blocks.count;
  if (firsts_.has(blocks.first) && at(blocks.first).end == end) {  // as most do
    found_.push_back(&at(blocks.first));
    return found_;
  }
  split(blocks.first);
  split(end);
  for (std::uint32_t block = blocks.first; block < end; block = found_.back()->end) {
    if (!firsts_.has(block)) insert(block, {std::min(end, firsts_.first_from(block)), no_step, no_reader});
    found_.push_back(&at(block));
  }
  return found_;
}

void access_history::add_reader(block_range blocks, step_index reader) {
  for (use* const piece : pieces(blocks)) piece->readers = linked(reader, piece->readers);
}

void access_history::set_writer(block_range blocks, step_index writer) {
  if (blocks.count == 0) return;
  const std::uint32_t end = blocks.first + blocks.count;
  for (use* const piece : pieces(blocks)) release(*piece);
  std::uint32_t next = at(blocks.first).end;
  for (; next < end; next = at(next).end) firsts_.erase(next);
  at(blocks.first) = {end, writer, no_reader};
}

std::pair<step_index, std::uint32_t> access_history::writer(block_range blocks) const {
  const std::uint32_t end = blocks.first + blocks.count;
  if (firsts_.has(blocks.first) && at(blocks.first).end >= end)  // as most do
    return {at(blocks.first).writer, blocks.count};
  step_index found = no_step;
  std::uint32_t block = blocks.first;
  while (block < end) {
    const std::uint32_t first = firsts_.last_to(block);
    const bool used = first != block_set_index::none && block < at(first).end;
    const step_index here = used ? at(first).writer : no_step;
    if (block == blocks.first) found = here;
    if (here != found) break;
    block = used ? at(first).end : std::min(end, firsts_.first_from(block));
  }
  return {found, std::min(block, end) - blocks.first};
}

}  // namespace weft::schedules
