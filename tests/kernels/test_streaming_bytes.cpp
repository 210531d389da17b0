// SPDX-License-Identifier: Apache-2.0
// From which size on targets are written past the caches.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "streaming.hpp"

using namespace weft::kernels;

namespace {

/// A folder that describes processor 3 as Linux does, with caches of these sizes. It goes with its end.
class described_processor {
 public:
  explicit described_processor(const std::vector<std::string>& sizes)
      : folder_(std::filesystem::temp_directory_path() / ("weft-caches-" + std::to_string(::getpid()))) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto cache = folder_ / "cpu3" / "cache" / ("index" + std::to_string(i));
      std::filesystem::create_directories(cache);
      std::ofstream(cache / "size") << sizes[i] << '\n';
    }
  }
  ~described_processor() { std::filesystem::remove_all(folder_); }
  described_processor(const described_processor&) = delete;
  described_processor& operator=(const described_processor&) = delete;

  std::size_t largest_of(int processor) const { return largest_cache(folder_.string(), processor); }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("the largest cache that a processor reaches is what Linux says") {
  CHECK(described_processor({"32K", "32K", "512K", "32768K"}).largest_of(3) == std::size_t{32} << 20);
  CHECK(described_processor({"48K", "32K", "2048K"}).largest_of(3) == std::size_t{2} << 20);
}

TEST_CASE("nothing is said of caches where Linux does not know them") {
  CHECK(described_processor({"32K", "32768K"}).largest_of(4) == 0);
  CHECK(described_processor({""}).largest_of(3) == 0);
  CHECK(described_processor({}).largest_of(3) == 0);
}

TEST_CASE("targets are written past the caches from half of the largest one on") {
  CHECK(streaming_bytes_beside(std::size_t{32} << 20) == std::size_t{16} << 20);
  CHECK(streaming_bytes_beside(std::size_t{2} << 20) == std::size_t{1} << 20);
  CHECK(streaming_bytes_beside(0) == std::size_t{16} << 20);
}

TEST_CASE("a process finds out once from which size on") {
  const std::size_t bytes = streaming_bytes();
  CHECK(bytes >= large_bytes);
  CHECK(streaming_bytes() == bytes);
}
