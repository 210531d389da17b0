// Scans, joined within each process.
#pragma once

#include "joined_work.hpp"

namespace weft::detail {

/// Scans, inclusive and exclusive. The ranks of a process are consecutive.
class joined_scan final : public joined_work {
 public:
  using joined_work::joined_work;

  void make(std::size_t bench, std::span<const std::byte* const> copies) override;
  void begin() override;
  bool joins() const override { return bytes_ != 0; }
  void join(std::size_t bench) override;
  void join_all() override { scan(0, elements()); }
  leader_call between() const override;
  bool takes() const override { return bytes_ != 0 && here_.between().here() > 0; }
  void take(std::size_t seat) override;
  bool takes_itself() const override { return call_.custom.apply != nullptr; }

 private:
  bool exclusive() const { return call_.what == collective::exscan; }
  /// Of what the processes before this one have, and where it is exclusive, of what the ranks here have together.
  std::byte* before() const { return here_.target; }
  std::byte* total() const;
  void scan(std::size_t first, std::size_t count);
};

}  // namespace weft::detail
