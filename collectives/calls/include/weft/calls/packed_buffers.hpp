// SPDX-License-Identifier: Apache-2.0
// Collectives whose buffers, or blocks of these, do not lie in one piece.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/calls/packed_copy.hpp>
#include <weft/request.hpp>

namespace weft::detail {

/// Such a call, as one whose elements lie one after another in scratch memory. Messages are contiguous: so they are
/// packed before it begins, and unpacked behind its end.
class packed_buffers {
 public:
  /// Throws errc::invalid_count where blocks are not within their buffer, or overlap where they are received, and
  /// errc::invalid_argument for what was found wrong when the call was made; tells the others in the checked mode.
  /// Throws std::bad_alloc, too.
  static packed_buffers of(communicator_state& state, const request& call);

  /// The call to be made in place of it, while this lives, wherever it is moved to.
  const request& call() const noexcept { return call_; }
  /// What the caller's input has now.
  void pack() const noexcept;
  /// Once that is done, once.
  void unpack() const noexcept;

 private:
  packed_buffers(const communicator_state& state, const request& call);

  struct blocks;

  void pack_described(const communicator_state& state, const request& call);
  void pack_strided(const communicator_state& state, const request& call);
  void place(const communicator_state& state, bool is_input, blocks&& placed);

  request call_;
  std::optional<packed_copy> input_, output_;          ///< where they are packed
  std::vector<std::size_t> places_, received_places_;  ///< where strided blocks lie in the scratch
  bool keeps_output_ = false;                          ///< some of it is not written
};

}  // namespace weft::detail
