// SPDX-License-Identifier: Apache-2.0
#include "halo.hpp"

#include <map>

namespace cg {

halo::halo(const sparse_rows& block, const balanced_blocks& blocks) {
  std::map<int, std::vector<std::size_t>> rows_with;  // by neighbour, the rows that have an entry in its columns
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    for (std::size_t k = block.starts[row]; k < block.starts[row + 1]; ++k) {
      if (block.rows.contains(block.columns[k])) continue;
      columns_.push_back(block.columns[k]);
      auto& rows = rows_with[blocks.owner(block.columns[k])];
      if (rows.empty() || rows.back() != row) rows.push_back(row);
    }
  }
  std::sort(columns_.begin(), columns_.end());
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());

  std::size_t received = 0;
  for (const auto& [neighbour, rows] : rows_with) {
    sends_.push_back({neighbour, sent_rows_.size(), rows.size()});
    sent_rows_.insert(sent_rows_.end(), rows.begin(), rows.end());
    const auto end =
        std::lower_bound(columns_.begin(), columns_.end(), blocks.block(neighbour).last) - columns_.begin();
    receives_.push_back({neighbour, received, static_cast<std::size_t>(end) - received});
    received = static_cast<std::size_t>(end);
  }
  send_buffer_.resize(sent_rows_.size());
  receive_buffer_.resize(columns_.size());
}

void halo::use_puts(weft::communicator& world) {
  window_.emplace(world, 2 * columns_.size(), 2);
  places_.resize(sends_.size());
  std::vector<weft::handle> calls;
  for (std::size_t i = 0; i < sends_.size(); ++i) {  // both are of the same neighbours, in the same order
    calls.push_back(world.irecv(std::span(&places_[i], 1), sends_[i].neighbour, 0));
    calls.push_back(world.isend(std::span(&receives_[i].first, 1), receives_[i].neighbour, 0));
  }
  weft::wait_all(calls);
  for (auto& each : put_buffers_) each.resize(sent_rows_.size());
}

void halo::start(weft::communicator& world, std::span<const double> own) {
  if (window_) return put(own);
  for (const part& p : receives_) {
    in_flight_.push_back(world.irecv(std::span(receive_buffer_).subspan(p.first, p.count), p.neighbour, 0));
  }
  for (std::size_t k = 0; k < sent_rows_.size(); ++k) send_buffer_[k] = own[sent_rows_[k]];
  for (const part& p : sends_) {
    in_flight_.push_back(world.isend(std::span<const double>(send_buffer_).subspan(p.first, p.count), p.neighbour, 0));
  }
}

void halo::put(std::span<const double> own) {
  turn_ = 1 - turn_;
  std::vector<double>& buffer = put_buffers_[turn_];
  for (std::size_t k = 0; k < sent_rows_.size(); ++k) buffer[k] = own[sent_rows_[k]];
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    const part& p = sends_[i];
    const std::size_t halo_of_turn = turn_ * window_->count(p.neighbour) / 2;
    window_->put_notify(p.neighbour, halo_of_turn + places_[i],
                        std::span<const double>(buffer).subspan(p.first, p.count), turn_);
  }
}

std::span<const double> halo::finish() {
  if (window_) {
    window_->wait_notified(turn_, static_cast<std::uint32_t>(receives_.size()));
    return window_->local().subspan(turn_ * columns_.size(), columns_.size());
  }
  weft::wait_all(in_flight_);
  in_flight_.clear();
  return receive_buffer_;
}

}  // namespace cg
