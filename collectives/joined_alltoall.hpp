// All-to-alls, joined within each process.
#pragma once

#include "block_places.hpp"
#include "joined_work.hpp"

namespace weft::detail {

/// Of equal blocks; where all ranks are in one process, of counts, too. Among several processes the ranks of each are
/// consecutive. What goes from process to process is packed by the rank that it goes to, and for each by who sends it.
class joined_alltoall final : public joined_work {
 public:
  /// Of the rank at `seat`.
  joined_alltoall(meeting& here, const request& call, const request_shape& shape, std::size_t seat);

  void make(std::size_t bench, std::span<const std::byte* const> copies) override;
  void begin() override;
  bool joins() const override { return call_.uneven || bytes_ != 0; }
  void join(std::size_t bench) override;
  leader_call between() const override;
  bool takes() const override { return !alone() && bytes_ != 0; }
  void take(std::size_t seat) override;
  std::size_t moved() const override { return bytes_ * here_.size(); }

 private:
  std::optional<std::size_t> input_bytes() const override;
  /// What the ranks here send each other.
  void take_from_here(std::size_t seat);
  void pack(std::size_t seat);

  std::size_t first() const { return static_cast<std::size_t>(here_.rank_at(0)); }
  /// Of all that goes from here to other processes, and of what comes from them.
  std::size_t bytes_away() const { return bytes_ * here_.size() - here_.size() * here_.size() * block_; }

  const std::size_t block_;  ///< bytes, where all are equal
  const block_places sent_, received_;
};

}  // namespace weft::detail
