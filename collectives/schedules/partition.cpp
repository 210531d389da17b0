#include <algorithm>
#include <stdexcept>
#include <string>
#include <weft/schedules/partition.hpp>

namespace weft::schedules {

partition partition::of_chunks(std::vector<std::size_t> counts) {
  partition made(0);
  made.form_ = form::chunks;
  made.first_.reserve(counts.size() + 1);
  for (const std::size_t count : counts) {
    made.first_.push_back(made.elements_);
    made.elements_ += count;
  }
  made.first_.push_back(made.elements_);
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
  made.sent_ = std::move(sent);
  made.received_ = std::move(received);
  return made;
}

std::size_t partition::count_of_chunk(const layout& cut, std::uint32_t chunk) const {
  if (form_ == form::pairs) {
    const auto ranks = static_cast<std::uint32_t>(sent_.size());
    if (chunk / ranks == rank_) return sent_[chunk % ranks];
    if (chunk % ranks == rank_ && chunk / ranks < ranks) return received_[chunk / ranks];
    throw std::invalid_argument("rank " + std::to_string(rank_) + " does not know how many elements rank " +
                                std::to_string(chunk / ranks) + " sends to rank " + std::to_string(chunk % ranks));
  }
  if (cut.chunks + std::size_t{1} != first_.size())
    throw std::invalid_argument("counts of " + std::to_string(first_.size() - 1) + " chunks for a vector of " +
                                std::to_string(cut.chunks));
  return first_[chunk + 1] - first_[chunk];
}

/// Where the block begins in its chunk.
std::size_t partition::begin_of(const layout& cut, std::uint32_t block) const {
  const std::uint32_t part = block % cut.segments;
  return part == 0 ? 0 : first_of_part(count_of_chunk(cut, block / cut.segments), cut.segments, part);
}

std::size_t partition::count(const layout& cut, block_range blocks) const {
  if (blocks.count == 0) return 0;
  if (form_ == form::balanced) return elements_of(cut, elements_, blocks).count;
  const std::uint32_t end = blocks.first + blocks.count;
  const std::uint32_t first_chunk = blocks.first / cut.segments, last_chunk = end / cut.segments;
  std::size_t whole = 0;
  for (std::uint32_t chunk = first_chunk; chunk < last_chunk; ++chunk) whole += count_of_chunk(cut, chunk);
  return whole + begin_of(cut, end) - begin_of(cut, blocks.first);
}

std::size_t partition::offset(const layout& cut, const block_set& held, std::uint32_t block) const {
  const std::uint32_t row = held.position(block) / held.run;
  std::size_t before = 0;
  for (std::uint32_t i = 0; i < row; ++i) before += count(cut, {held.first + i * held.stride, held.run});
  const std::uint32_t begin = held.first + row * held.stride;
  return before + count(cut, {begin, block - begin});
}

std::size_t partition::total(const layout& cut, const block_set& held) const {
  if (held.count == 0) return 0;
  const std::uint32_t last = held.at(held.count - 1);
  return offset(cut, held, last) + count(cut, {last, 1});
}

std::size_t partition::most(const layout& cut, std::uint32_t blocks) const {
  if (form_ == form::balanced || blocks == 0) return blocks == 0 ? 0 : most_elements(cut, elements_, blocks);
  const std::uint32_t all = cut.chunks * cut.segments;
  std::size_t most = 0;
  for (std::uint32_t first = 0; first < std::max(all, blocks) - blocks + 1; ++first)
    most = std::max(most, count(cut, {first, std::min(blocks, all)}));
  return most;
}

}  // namespace weft::schedules
