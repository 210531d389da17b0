// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "measurement.hpp"

namespace weft::tools {
namespace {

enum tag : int { ping_tag = 1, pong_tag = 2, stream_tag = 3 };

/// The short message: 16 bytes.
struct ping {
  std::int64_t number = 0;
  std::int64_t streams = -1;  ///< the last ping: how many long messages there were; its pong: how many were waited for
};
static_assert(sizeof(ping) == 16);

/// The rank that times: it sends pings, and one long message after another.
class pinging_side {
 public:
  pinging_side(communicator& world, bool loaded)
      : world_(world), peer_(world.size() - 1), payload_(loaded ? stream_bytes : 0) {}

  measurement measure(std::chrono::milliseconds budget) {
    constexpr int warm_up = 10, calls = 5;
    for (int i = 0; i < warm_up; ++i) one_way();
    double once = 0;
    for (int i = 0; i < calls; ++i) once += one_way() / calls;
    const std::size_t samples = count_samples(budget, once);
    // What goes on between the pings can take far longer than they do: within one process, a copy of the stream.
    const double limit = seconds_now() + 10 * std::chrono::duration<double>(budget).count();
    std::vector<double> seconds;
    while (seconds.size() < 20 || (seconds.size() < samples && seconds_now() < limit)) seconds.push_back(one_way());
    finish();
    measurement result = summarize(std::move(seconds));
    result.bytes = sizeof(ping);
    result.wrong = wrong_;
    result.algorithm = payload_.empty() ? "idle" : "under a stream";
    return result;
  }

 private:
  /// Seconds, half of those of the round trip.
  double one_way() {
    keep_streaming();
    const double start = seconds_now();
    const ping back = round_trip({++number_});
    const double end = seconds_now();
    if (back.number != number_) ++wrong_;
    return (end - start) / 2;
  }

  ping round_trip(const ping& there) {
    std::array<ping, 1> back;
    world_.send(std::array{there}, peer_, ping_tag);
    world_.recv(back, peer_, pong_tag);
    return back[0];
  }

  void keep_streaming() {
    if (payload_.empty() || (stream_.valid() && !stream_.test())) return;
    if (stream_.valid()) stream_.wait();
    stream_ = world_.isend(payload_, peer_, stream_tag);
    ++streams_;
  }

  /// The other side has receives for streams that never came: they get empty messages.
  void finish() {
    const ping answer = round_trip({++number_, streams_});
    for (; streams_ < answer.streams; ++streams_) world_.send(std::span<const char>(), peer_, stream_tag);
    if (stream_.valid()) stream_.wait();
  }

  communicator& world_;
  int peer_;
  std::vector<char> payload_;
  handle stream_;
  std::int64_t streams_ = 0, number_ = 0, wrong_ = 0;
};

/// The rank that answers. Two receives are there for the long messages, so that the next one never waits for a buffer.
class answering_side {
 public:
  answering_side(communicator& world, bool loaded) : world_(world) {
    for (auto& buffer : buffers_) buffer.resize(loaded ? stream_bytes : 0);
  }

  void answer() {
    for (;;) {
      keep_receiving();
      std::array<ping, 1> message;
      world_.recv(message, 0, ping_tag);
      const bool last = message[0].streams >= 0;
      while (last && posted_ < message[0].streams) replace_first();
      if (last) message[0].streams = posted_;
      world_.send(message, 0, pong_tag);
      if (last) break;
    }
    for (handle& receive : receives_) receive.wait();
  }

 private:
  void keep_receiving() {
    if (buffers_[0].empty()) return;
    while (receives_.size() < buffers_.size()) post();
    while (receives_.front().test()) replace_first();
  }

  void replace_first() {
    receives_.front().wait();
    receives_.pop_front();
    post();
  }

  void post() {
    receives_.push_back(world_.irecv(buffers_[static_cast<std::size_t>(posted_) % buffers_.size()], 0, stream_tag));
    ++posted_;
  }

  communicator& world_;
  std::array<std::vector<char>, 2> buffers_;
  std::deque<handle> receives_;  // the oldest first: they end in this order
  std::int64_t posted_ = 0;
};

measurement measure_one(communicator& world, bool loaded, std::chrono::milliseconds budget) {
  measurement result;
  world.barrier();
  if (world.rank() == 0) result = pinging_side(world, loaded).measure(budget);
  if (world.rank() == world.size() - 1) answering_side(world, loaded).answer();
  world.barrier();
  return result;
}

}  // namespace

latencies measure_latency(communicator& world, std::chrono::milliseconds budget) {
  latencies result;
  result.idle = measure_one(world, false, budget);
  result.loaded = measure_one(world, true, budget);
  return result;
}

}  // namespace weft::tools
