// SPDX-License-Identifier: Apache-2.0
// The halo: the entries of a distributed vector that a rank's rows need and other ranks own.
//
//          columns of rank 0 | rank 1    | rank 2
//   rows  0 [   own          | from 1    |           ]
//         1 [   from 0       | own       | from 2    ]     rank 1 keeps this row block
//         2 [                | from 1    | own       ]
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/window.hpp>

#include "sparse_rows.hpp"

namespace cg {

class halo {
 public:
  /// Plans the exchange from the rank's block of rows, without a message. The matrix's pattern is symmetric: where my
  /// row i has an entry in somebody's column, their rows have one in my column i, so that they need my entry i.
  halo(const sparse_rows& block, const balanced_blocks& blocks);

  /// From now on the neighbours' entries are put into this rank's memory, and it is notified; else they are messages.
  /// Collective, blocking; so is the destructor then.
  void use_puts(weft::communicator& world);

  /// Sends what the neighbours need of `own`, the rank's entries, and begins to receive. Does not block. `own` may
  /// change as soon as this returns.
  void start(weft::communicator& world, std::span<const double> own);
  /// Blocks until all has arrived. Valid until the next start.
  std::span<const double> finish();

  /// The columns received, ascending: entry k of what `finish` returns belongs to column columns()[k].
  std::span<const std::int64_t> columns() const { return columns_; }

 private:
  /// A stretch of a buffer that one neighbour fills or gets.
  struct part {
    int neighbour;
    std::size_t first;
    std::size_t count;
  };

  void put(std::span<const double> own);

  std::vector<std::int64_t> columns_;  // those of one owner are consecutive, since blocks are
  std::vector<part> receives_;
  std::vector<std::size_t> sent_rows_;  // counted in the block
  std::vector<part> sends_;
  std::vector<double> send_buffer_;
  std::vector<double> receive_buffer_;

  // By puts. Exchanges take turns with two of everything: when a neighbour has put for the next one it has used what it
  // got for this one, so that behind the next one all of this one may be written again.
  std::optional<weft::window<double>> window_;  // two halos; a slot for each
  std::vector<std::size_t> places_;             // where the entries for each of sends_ begin in that neighbour's halo
  std::array<std::vector<double>, 2> put_buffers_;
  std::size_t turn_ = 0;
  std::vector<weft::handle> in_flight_;  // last: what is in flight ends before its buffers do
};

}  // namespace cg
