// SPDX-License-Identifier: Apache-2.0
// Collectives whose blocks are strided.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/request.hpp>

namespace weft::detail {

/// Such a call, as one whose strided blocks lie one after another in scratch memory. Messages are contiguous: so they
/// are packed before it begins, and unpacked behind its end.
class packed_blocks {
 public:
  /// Throws errc::invalid_count where blocks are not within their buffer, or overlap where they are received, and
  /// tells the others in the checked mode; std::bad_alloc.
  static packed_blocks of(communicator_state& state, const request& call);

  /// The call to be made in place of it, while this lives, wherever it is moved to.
  const request& call() const noexcept { return call_; }
  /// What the caller's input has now.
  void pack() const noexcept;
  /// Once that is done, once.
  void unpack() const noexcept;

 private:
  packed_blocks(const communicator_state& state, const request& call);

  struct buffer {
    buffer(std::span<const strided> how, block_counts of_each, block_counts where);

    std::vector<strided> lies;
    std::vector<std::size_t> counts, displacements, packed;  ///< the last: where they lie in the scratch
    std::size_t elements = 0;                                ///< of all
    std::unique_ptr<std::byte[]> scratch;                    ///< null: this rank has no such buffer
  };
  static void check_within(const communicator_state& state, const request& call, const buffer& blocks, const char* name,
                           std::size_t count);
  static void check_apart(const communicator_state& state, const request& call, const buffer& blocks);

  request call_;
  std::optional<buffer> input_, output_;  ///< where they are strided
  const std::byte* from_;                 ///< the caller's
  std::byte* to_;
};

}  // namespace weft::detail
