// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <weft/schedules/partition.hpp>

namespace weft::schedules {
namespace {

/// Where each of these begins when they follow one another, and where the last one ends.
std::vector<std::size_t> starts(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> first(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
  return first;
}

}  // namespace

partition partition::of_chunks(std::vector<std::size_t> counts) {
  partition made(0);
  made.form_ = form::chunks;
  made.first_ = starts(counts);
  made.elements_ = made.first_.back();
  return made;
}

partition partition::of_pairs(int rank, std::vector<std::size_t> sent, std::vector<std::size_t> received) {
  if (sent.size() != received.size() || rank < 0 || static_cast<std::size_t>(rank) >= sent.size())
    throw std::invalid_argument("rank " + std::to_string(rank) + " cannot send to " + std::to_string(sent.size()) +
                                " ranks and receive from " + std::to_string(received.size()));
  if (sent[static_cast<std::size_t>(rank)] != received[static_cast<std::size_t>(rank)])
    throw std::invalid_argument("rank " + std::to_string(rank) + " sends itself another count than it receives");
  partition made(0);
  made.form_ = form::pairs;
  made.rank_ = static_cast<std::uint32_t>(rank);
  made.first_ = starts(sent);
  made.received_ = std::move(received);
  return made;
}

/// Elements of chunks in a row.
std::size_t partition::count_of_chunks(const layout& cut, std::uint32_t first, std::uint32_t end) const {
  if (first == end) return 0;
  if (form_ == form::pairs) {
    const auto ranks = static_cast<std::uint32_t>(received_.size());
    if (first / ranks == rank_ && (end - 1) / ranks == rank_)
      return first_[end - rank_ * ranks] - first_[first - rank_ * ranks];
    if (end - first == 1 && first % ranks == rank_ && first / ranks < ranks) return received_[first / ranks];
    throw std::invalid_argument("rank " + std::to_string(rank_) + " does not know how many elements rank " +
                                std::to_string(first / ranks) + " sends to rank " + std::to_string(first % ranks));
  }
  if (cut.chunks + std::size_t{1} != first_.size())
    throw std::invalid_argument("counts of " + std::to_string(first_.size() - 1) + " chunks for a vector of " +
                                std::to_string(cut.chunks));
  return first_[end] - first_[first];
}

/// Where the block begins in its chunk.
std::size_t partition::begin_of(const layout& cut, std::uint32_t block) const {
  const std::uint32_t part = block % cut.segments;
  return part == 0
             ? 0
             : first_of_part(count_of_chunks(cut, block / cut.segments, block / cut.segments + 1), cut.segments, part);
}

std::size_t partition::count(const layout& cut, block_range blocks) const {
  if (blocks.count == 0) return 0;
  if (form_ == form::balanced) return elements_of(cut, elements_, blocks).count;
  const std::uint32_t end = blocks.first + blocks.count;
  return count_of_chunks(cut, blocks.first / cut.segments, end / cut.segments) + begin_of(cut, end) -
         begin_of(cut, blocks.first);
}

std::size_t partition::total(const layout& cut, const block_set& held) const {
  return held_offsets(*this, cut, held).total();
}

std::size_t partition::most(const layout& cut, std::uint32_t blocks) const {
  if (form_ == form::balanced || blocks == 0) return blocks == 0 ? 0 : most_elements(cut, elements_, blocks);
  const std::uint32_t all = cut.chunks * cut.segments;
  std::size_t most = 0;
  for (std::uint32_t first = 0; first < std::max(all, blocks) - blocks + 1; ++first)
    most = std::max(most, count(cut, {first, std::min(blocks, all)}));
  return most;
}

held_offsets::held_offsets(const partition& counts, const layout& cut, const block_set& held,
                           std::vector<std::size_t> displacements)
    : counts_(&counts), cut_(&cut), held_(held), before_row_{0}, displacements_(std::move(displacements)) {
  if (held.count == 0) return;
  if (!displacements_.empty() && displacements_.size() != held.count / cut.segments)
    throw std::invalid_argument(std::to_string(displacements_.size()) + " displacements for a buffer of " +
                                std::to_string(held.count / cut.segments) + " chunks");
  const std::uint32_t rows = held.count / held.run;
  before_row_.reserve(rows + 1);
  for (std::uint32_t row = 0; row < rows; ++row)
    before_row_.push_back(before_row_.back() + counts.count(cut, {held.first + row * held.stride, held.run}));
}

}  // namespace weft::schedules
