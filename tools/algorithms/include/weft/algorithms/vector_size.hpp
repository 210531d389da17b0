// SPDX-License-Identifier: Apache-2.0
// The options of `weft plan` and `weft sim` that say how large a collective's vector is.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>
#include <weft/kernels/combine.hpp>

namespace weft::tools {

struct vector_size {
  std::vector<std::size_t> counts, bytes;  ///< as they are given: of elements, or bytes; one of the two at most
  kernels::type type = kernels::type::float32;
  std::vector<CLI::Option*> options;

  /// Every size, in bytes.
  std::vector<std::size_t> in_bytes() const;
};

/// Adds --count, --bytes and --type, of one vector or of several; `by_default` is said of a size that is not given.
void add_vector_size(CLI::App& app, vector_size& line, bool several, const std::string& by_default);

}  // namespace weft::tools
