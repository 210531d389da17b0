// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>
#include <weft/handle.hpp>
#include <weft/window.hpp>

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

std::size_t length_of_number(std::span<const std::byte> message) {
  return std::min(message.size(), sizeof(std::uint64_t));
}

/// At both ends.
void put_number(std::span<std::byte> message, const std::uint64_t& number) {
  const std::size_t length = length_of_number(message);
  std::memcpy(message.data(), &number, length);
  std::memcpy(message.data() + message.size() - length, &number, length);
}

bool has_number(std::span<const std::byte> message, const std::uint64_t& number) {
  const std::size_t length = length_of_number(message);
  const bool overlap = message.size() < 2 * sizeof number;  // of both ends: the last was put later
  return std::memcmp(message.data() + message.size() - length, &number, length) == 0 &&
         (overlap || std::memcmp(message.data(), &number, length) == 0);
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
      for (std::size_t i = 0; i < buffers_; i += to_last()) put_number(message(sent_, i), number_);
      for (std::size_t i = 0; i < window_; ++i) calls_.push_back(world_.isend(message(sent_, i), peer_, payload_tag));
    }
    wait_all(calls_);
    if (receives_)
      for (std::size_t i = 0; i < buffers_; i += to_last())
        wrong_ += has_number(message(received_, i), number_) ? 0 : 1;
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

  communicator& world_;
  int peer_;
  bool sends_, receives_;
  std::size_t window_, bytes_, buffers_;
  std::vector<std::byte> sent_, received_;
  std::vector<handle> calls_;
  std::uint64_t number_ = 0;
  std::int64_t wrong_ = 0;
};

/// A rank of a pair of which the first puts windows of messages into the other one's memory, or gets them from there,
/// each from or into a buffer of its own. The other one makes no call meanwhile.
class one_sided_side {
 public:
  one_sided_side(communicator& world, const bench_settings& settings, std::size_t bytes)
      : peer_(partner_in_pair(world, settings.pairs)),
        acts_(world.rank() < settings.pairs),
        puts_(settings.collective == "put"),
        window_(settings.window),
        bytes_(bytes),
        buffers_(acts_ ? window_ * bytes : 0),
        memory_(world, acts_ ? 0 : window_ * bytes) {
    if (!puts_ && !acts_)
      for (std::size_t i = 0; i < window_; ++i) put_number(memory_.local().subspan(i * bytes_, bytes_), first_number);
    memory_.fence();
  }

  void exchange() {
    if (puts_) ++number_;
    if (!acts_) return;
    if (puts_)
      for (const std::size_t i : {std::size_t{0}, window_ - 1}) put_number(buffer(i), number_);
    for (std::size_t i = 0; i < window_; ++i)
      if (puts_)
        memory_.put(peer_, i * bytes_, buffer(i));
      else
        memory_.get(peer_, i * bytes_, buffer(i));
    memory_.flush(peer_);
  }

  /// Of the first and the last buffer, as the last window has left them. Collective.
  std::int64_t wrong() {
    memory_.fence();
    std::int64_t found = 0;
    if (puts_ != acts_) {
      const std::span<std::byte> all = puts_ ? memory_.local() : std::span(buffers_);
      for (const std::size_t i : {std::size_t{0}, window_ - 1})
        found += has_number(all.subspan(i * bytes_, bytes_), number_) ? 0 : 1;
    }
    return found;
  }

 private:
  static constexpr std::uint64_t first_number = 1;

  std::span<std::byte> buffer(std::size_t index) { return std::span(buffers_).subspan(index * bytes_, bytes_); }

  int peer_;
  bool acts_, puts_;
  std::size_t window_, bytes_;
  std::vector<std::byte> buffers_;
  window<std::byte> memory_;
  std::uint64_t number_ = first_number;
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
template <class Side>
measurement measure_size(communicator& world, const bench_settings& settings, std::size_t bytes) {
  Side mine(world, settings, bytes);
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
  result.algorithm = is_one_sided(settings.collective) ? "flushed" : ways == 2 ? "windows, both ways" : "windows";
  return result;
}

}  // namespace

std::int64_t measure_windows(communicator& world, const bench_settings& settings,
                             const std::function<void(const measurement&)>& report) {
  unmatched_receives unmatched(world, settings);
  std::int64_t wrong = 0;
  for (std::size_t bytes = settings.from;; bytes *= settings.factor) {
    const measurement result = is_one_sided(settings.collective) ? measure_size<one_sided_side>(world, settings, bytes)
                                                                 : measure_size<window_side>(world, settings, bytes);
    wrong += result.wrong;
    if (world.rank() == 0) report(result);
    if (bytes > settings.to / settings.factor) return wrong + unmatched.match();
  }
}

}  // namespace weft::tools
