// Collectives of a block for each rank, joined within each process.
#pragma once

#include "block_places.hpp"
#include "joined_work.hpp"

namespace weft::detail {

/// Reduce-scatters, all-gathers, gathers and scatters. Among several processes the ranks of each are consecutive, and
/// so are their blocks: `here_.target` is where they lie, or in a reduce-scatter the whole vector does.
class joined_blocks final : public joined_work {
 public:
  joined_blocks(meeting& here, const request& call, const request_shape& shape)
      : joined_work(here, call, shape.vector * call.element_bytes), block_(shape.block) {}

  void make(std::size_t bench, std::span<const std::byte* const> copies) override;
  void begin() override;
  bool joins() const override;
  void join(std::size_t bench) override;
  leader_call between() const override;
  bool takes() const override;
  void take(std::size_t seat) override;
  std::size_t moved() const override;

 private:
  /// Whether the ranks take what they get straight from each other's inputs.
  bool direct() const { return alone() && call_.common_output == nullptr; }
  /// One output for all ranks here.
  void share_output();
  std::size_t root_seat() const { return here_.seat_of(call_.root); }
  /// Of a seat's block: bytes, and where it lies among those of the ranks here.
  std::size_t bytes_of(std::size_t seat) const { return here_.places->bytes_of(here_.rank_at(seat)); }
  std::size_t offset_of(std::size_t seat) const { return here_.places->begin(here_.rank_at(seat)) - first_byte(); }
  std::size_t first_byte() const { return here_.places->begin(here_.rank_at(0)); }
  std::optional<std::size_t> input_bytes() const override;
  void make_for(std::size_t seat, std::span<const std::byte* const> copies);
  void take_directly(std::size_t seat);
  void combine(std::size_t first, std::size_t count, std::byte* into);

  const std::size_t block_;             ///< elements, where all are equal
  std::optional<block_places> places_;  ///< of the one that begins, for all ranks here
};

}  // namespace weft::detail
