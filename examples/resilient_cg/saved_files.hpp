// SPDX-License-Identifier: Apache-2.0
// States of the solver in files, one of each rank, in a directory that all ranks see.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "saved_state.hpp"

namespace cg {

/// Everything throws std::runtime_error, which names the file and says what was wrong.
class saved_files {
 public:
  /// Of one state.
  struct name {
    std::int64_t number = -1;
    int ranks = 0;  ///< none: there is no state
  };

  /// `problem` says what is solved.
  saved_files(std::filesystem::path directory, std::string problem)
      : directory_(std::move(directory)), problem_(std::move(problem)) {}

  /// Behind this the file is on the disk, or as it was.
  void write(const summary& shared, std::int64_t unknowns, const block& rows) const;
  /// The latest of which there are the files of all ranks.
  name latest() const;
  /// That of rank `rows.rank`, into `rows`. Throws where it is of another problem.
  summary read(name of, std::int64_t unknowns, block& rows) const;

  /// Those that are not needed any more.
  void remove_before_latest() const;
  void remove_behind(std::int64_t number) const;

 private:
  std::filesystem::path path_of(name of, int rank) const;

  std::filesystem::path directory_;
  std::string problem_;
};

}  // namespace cg
