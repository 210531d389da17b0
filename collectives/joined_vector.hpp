// Collectives of one vector, joined within each process.
#pragma once

#include "joined_work.hpp"

namespace weft::detail {

/// Barriers, broadcasts, reductions and all-reduces.
class joined_vector final : public joined_work {
 public:
  using joined_work::joined_work;

  bool combines_copies() const override { return combines(); }
  void make(std::size_t bench, std::span<const std::byte* const> copies) override;
  void begin() override;
  bool joins() const override { return combines() && here_.target != nullptr; }
  void join(std::size_t bench) override;
  void join_all() override { combine(0, elements()); }
  leader_call between() const override;
  bool takes() const override;
  void take(std::size_t seat) override;

 private:
  bool combines() const { return schedules::combines(call_.what) && bytes_ != 0; }
  /// The seat whose buffer all here take the result from, or that has it alone.
  std::size_t owner() const { return has_root() && root_is_here() ? here_.seat_of(call_.root) : 0; }
  std::optional<std::size_t> input_bytes() const override;
  void combine(std::size_t first, std::size_t count);
};

}  // namespace weft::detail
