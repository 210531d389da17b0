// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>
#include <weft/handle.hpp>

#include "measurement.hpp"

namespace weft::tools {
namespace {

enum window_tag : int { payload_tag = 1, answer_tag = 2, unmatched_tag = 3 };

/// Windows to warm up, and to estimate.
constexpr std::size_t first_windows = 3, estimating_windows = 3;
/// Seconds that a sample takes at least, so that the clock and the barrier before it do not matter.
constexpr double shortest_sample = 100e-6;

int partner_in_pair(const communicator& world, int pairs) {
  return world.rank() < pairs ? world.rank() + pairs : world.rank() - pairs;
}

/// A rank and its buffers. Of the message rate each message of a window has a buffer of its own; otherwise all have the
/// same, as osu_bw has it, whose contents are the same, too.
class window_side {
 public:
  window_side(communicator& world, const bench_settings& settings, std::size_t bytes)
      : world_(world),
        peer_(partner_in_pair(world, settings.pairs)),
        sends_(world.rank() < settings.pairs || settings.collective == "bidirectional"),
        receives_(world.rank() >= settings.pairs || settings.collective == "bidirectional"),
        window_(settings.window),
        bytes_(bytes),
        buffers_(settings.collective == "message-rate" ? window_ : 1),
        sent_(sends_ ? buffers_ * bytes : 0),
        received_(receives_ ? buffers_ * bytes : 0) {
    calls_.reserve(2 * window_);
  }

  /// The next window, whose number stands at both ends of its first and of its last buffer. Where messages go one way,
  /// an answer says that all have come.
  void exchange() {
    ++number_;
    calls_.clear();
    if (receives_)
      for (std::size_t i = 0; i < window_; ++i)
        calls_.push_back(world_.irecv(message(received_, i), peer_, payload_tag));
    if (sends_) {
      for (std::size_t i = 0; i < buffers_; i += to_last()) put_number(message(sent_, i));
      for (std::size_t i = 0; i < window_; ++i) calls_.push_back(world_.isend(message(sent_, i), peer_, payload_tag));
    }
    wait_all(calls_);
    if (receives_)
      for (std::size_t i = 0; i < buffers_; i += to_last()) wrong_ += has_number(message(received_, i)) ? 0 : 1;
    std::array<std::int32_t, 1> answer{};
    if (!sends_) world_.send(answer, peer_, answer_tag);
    if (!receives_) world_.recv(answer, peer_, answer_tag);
  }

  /// Of the buffers that are looked at, those which had something else than was sent.
  std::int64_t wrong() const { return wrong_; }

 private:
  std::span<std::byte> message(std::vector<std::byte>& all, std::size_t index) const {
    return std::span(all).subspan(index % buffers_ * bytes_, bytes_);
  }

  std::size_t to_last() const { return std::max<std::size_t>(1, buffers_ - 1); }

  std::size_t room() const { return std::min(bytes_, sizeof number_); }

  void put_number(std::span<std::byte> message) const {
    std::memcpy(message.data(), &number_, room());
    std::memcpy(message.data() + bytes_ - room(), &number_, room());
  }

  bool has_number(std::span<const std::byte> message) const {
    const bool overlap = bytes_ < 2 * sizeof number_;  // of both ends: the last was put later
    return std::memcmp(message.data() + bytes_ - room(), &number_, room()) == 0 &&
           (overlap || std::memcmp(message.data(), &number_, room()) == 0);
  }

  communicator& world_;
  int peer_;
  bool sends_, receives_;
  std::size_t window_, bytes_, buffers_;
  std::vector<std::byte> sent_, received_;
  std::vector<handle> calls_;
  std::uint64_t number_ = 0;
  std::int64_t wrong_ = 0;
};

/// On the ranks that receive: receives that no window matches.
class unmatched_receives {
 public:
  unmatched_receives(communicator& world, const bench_settings& settings)
      : world_(world),
        peer_(partner_in_pair(world, settings.pairs)),
        sends_(world.rank() < settings.pairs),
        numbers_(settings.unmatched, -1) {
    if (sends_) return;
    for (std::int64_t& each : numbers_) calls_.push_back(world_.irecv(std::span(&each, 1), peer_, unmatched_tag));
  }

  /// Sends what they match, and returns how many got something else.
  std::int64_t match() {
    std::int64_t wrong = 0;
    wait_all(calls_);
    for (std::int64_t i = 0; i < std::ssize(numbers_); ++i) {
      if (sends_)
        world_.send(std::array{i}, peer_, unmatched_tag);
      else if (numbers_[static_cast<std::size_t>(i)] != i)
        ++wrong;
    }
    return wrong;
  }

 private:
  communicator& world_;
  int peer_;
  bool sends_;
  std::vector<std::int64_t> numbers_;
  std::vector<handle> calls_;
};

/// On rank 0 of all pairs.
measurement measure_size(communicator& world, const bench_settings& settings, std::size_t bytes) {
  window_side mine(world, settings, bytes);
  // Seconds of a window, on the first rank of each pair.
  const auto time_windows = [&](std::size_t count) {
    world.barrier();
    const double start = seconds_now();
    for (std::size_t i = 0; i < count; ++i) mine.exchange();
    const double seconds = (seconds_now() - start) / static_cast<double>(count);
    return world.rank() < settings.pairs ? seconds : 0;
  };
  time_windows(first_windows);
  std::array once{time_windows(estimating_windows)};
  world.allreduce(once, once, max);
  const double windows = std::clamp(std::ceil(shortest_sample / std::max(once[0], 1e-7)), 1.0, 1000.0);
  std::vector<double> seconds(count_samples(settings.budget, once[0] * windows));
  for (double& each : seconds) each = time_windows(static_cast<std::size_t>(windows));
  world.allreduce(seconds, seconds, max);
  std::array wrong{mine.wrong()};
  world.allreduce(wrong, wrong, sum);
  measurement result = summarize(std::move(seconds));
  const std::size_t ways = settings.collective == "bidirectional" ? 2 : 1;
  const auto messages = static_cast<double>(ways * settings.window * static_cast<std::size_t>(settings.pairs));
  result.bytes = bytes;
  result.messages_per_s = messages / (result.median_us * 1e-6);
  result.bytes_per_s = *result.messages_per_s * static_cast<double>(bytes);
  result.wrong = wrong[0];
  result.algorithm = ways == 2 ? "windows, both ways" : "windows";
  return result;
}

}  // namespace

std::int64_t measure_windows(communicator& world, const bench_settings& settings,
                             const std::function<void(const measurement&)>& report) {
  unmatched_receives unmatched(world, settings);
  std::int64_t wrong = 0;
  for (std::size_t bytes = settings.from;; bytes *= settings.factor) {
    const measurement result = measure_size(world, settings, bytes);
    wrong += result.wrong;
    if (world.rank() == 0) report(result);
    if (bytes > settings.to / settings.factor) return wrong + unmatched.match();
  }
}

}  // namespace weft::tools
