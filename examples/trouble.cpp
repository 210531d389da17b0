// SPDX-License-Identifier: Apache-2.0
// Heat in a rod, with a mistake to find: tools/TROUBLESHOOTING.md finds each.
//   trouble none|hang|crash|slow|disk [FOLDER [STEPS]]
// Each rank has a piece of the rod. In every step it exchanges the ends of its piece with its neighbours, computes, and
// all ranks learn the largest change. Every 500 steps a rank writes its piece to FOLDER, if one is given.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr int begins_at = 1000;  // the step from which on the mistake is made
constexpr int steps_between_files = 500;

class rod {
 public:
  rod(weft::communicator& world, std::string trouble) : world_(world), trouble_(std::move(trouble)) {
    // Meant to be the same everywhere.
    const std::size_t cells = errs("slow", 2) ? 1'200'000 : 20'000;
    now_.assign(cells + 2, 0.0);
    next_ = now_;
    if (world_.rank() == 0) now_[1] = next_[1] = 1e6;
  }

  /// The largest change of a cell in any rank.
  double step(int number) {
    exchange_ends(number);
    const double mine = compute();
    if (number >= begins_at && errs("crash", 3)) mark_hottest();
    double largest = 0;
    world_.allreduce(std::span(&mine, 1), std::span(&largest, 1), weft::max);
    return largest;
  }

  /// Throws where the file is not written whole.
  void save(const std::string& folder) const {
    const std::string name = folder + "/piece." + std::to_string(world_.rank());
    std::ofstream file(name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(now_.data()), static_cast<std::streamsize>(now_.size() * sizeof(double)));
    if (!file.flush()) throw std::runtime_error(name + ": " + std::strerror(errno));
  }

 private:
  bool errs(const char* how, int who) const { return trouble_ == how && world_.rank() == who; }

  void exchange_ends(int number) {
    const int left = world_.rank() - 1, right = world_.rank() + 1;
    const int tag = number >= begins_at && errs("hang", 4) ? 1 : 0;
    std::vector<weft::handle> begun;
    if (left >= 0) begun.push_back(world_.isend(std::span(&now_[1], 1), left, tag));
    if (right < world_.size()) begun.push_back(world_.isend(std::span(&now_[now_.size() - 2], 1), right, 0));
    if (left >= 0) world_.recv(std::span(&now_.front(), 1), left, 0);
    if (right < world_.size()) world_.recv(std::span(&now_.back(), 1), right, 0);
    weft::wait_all(begun);
  }

  double compute() {
    double largest = 0;
    for (std::size_t i = 1; i + 1 < now_.size(); ++i) {
      next_[i] = now_[i] + 0.25 * (now_[i - 1] - 2 * now_[i] + now_[i + 1]);
      largest = std::max(largest, std::abs(next_[i] - now_[i]));
    }
    std::swap(now_, next_);
    return largest;
  }

  /// What is thrown here ends the process.
  void mark_hottest() noexcept {
    const auto hottest = std::max_element(now_.begin(), now_.end()) - now_.begin();
    next_.at(now_.size() + static_cast<std::size_t>(hottest)) = 0;
  }

  weft::communicator& world_;
  std::string trouble_;
  std::vector<double> now_, next_;  // with a neighbour's cell at both ends
};

void simulate(weft::communicator& world, const std::string& trouble, const std::string& folder, int steps) {
  rod piece(world, trouble);
  double change = 0;
  for (int number = 0; number < steps; ++number) {
    change = piece.step(number);
    if (!folder.empty() && number % steps_between_files == 0) piece.save(folder);
  }
  if (world.rank() == 0) std::printf("%d steps, the last of which changed a cell by %g\n", steps, change);
}

}  // namespace

int main(int argc, char** argv) {
  std::atomic<bool> told{false};
  const auto tell = [&](const std::exception& error) {
    if (!told.exchange(true)) std::fprintf(stderr, "%s\n", error.what());
  };
  try {
    weft::runtime runtime(argc, argv);
    if (argc < 2) throw std::invalid_argument("trouble none|hang|crash|slow|disk [FOLDER [STEPS]]");
    runtime.run([&](weft::communicator& world) {
      try {
        simulate(world, argv[1], argc > 2 ? argv[2] : "", argc > 3 ? std::atoi(argv[3]) : 5000);
      } catch (const std::exception& error) {
        tell(error);  // before the others hear of it, of which the first to end ends the job
        throw;
      }
    });
  } catch (const std::exception& error) {
    tell(error);
    return 1;
  }
}
