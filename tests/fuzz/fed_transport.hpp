// SPDX-License-Identifier: Apache-2.0
// A transport whose other side is the fuzzer: it hands over what it is fed, and takes everything.
#pragma once

#include <cstring>
#include <utility>
#include <vector>
#include <weft/fabric/transport.hpp>

#include "fabric/messenger/wire.hpp"

namespace weft_fuzz {

namespace fabric = weft::fabric;

/// Beside the transport: the messenger owns that.
struct feed {
  std::vector<std::vector<std::byte>> frames;  ///< to be handed over by the next poll
  bool refusing = false;                       ///< posts are refused
  bool dropping = false;                       ///< the next poll says that a frame was lost

  struct posted_transfer {
    int peer;
    fabric::transfer* context;
    std::span<const std::byte> leaves;  ///< read when it ends
    std::span<std::byte> lands;         ///< written when it ends
    std::size_t bytes;                  ///< when it has ended: so many
    std::error_code error;
    bool ended;
  };
  std::vector<posted_transfer> transfers;  ///< those of sends end by themselves

  std::vector<std::uint32_t> names;  ///< of messages, in what the messenger has sent
  std::size_t sum = 0;               ///< of all bytes that have left

  void read(std::span<const std::byte> bytes) {
    for (const std::byte each : bytes) sum += static_cast<std::size_t>(each);
  }
  void end(posted_transfer& ended, std::size_t bytes, std::error_code error = {}) {
    ended.bytes = std::min(bytes, ended.lands.size());
    ended.error = error;
    ended.ended = true;
    if (ended.bytes != 0) std::memset(ended.lands.data(), 0xee, ended.bytes);
  }
};

class fed_transport final : public fabric::transport {
 public:
  explicit fed_transport(feed& from) : feed_(from) {
    limits_.provider = "fuzzer";
    limits_.inject = 128;
    limits_.frame = 4096;
    limits_.payload = 1 << 20;
    limits_.tag_mask = ~std::uint64_t{0};
    limits_.receives = 8;
  }
  ~fed_transport() override { feed_.transfers.clear(); }

  const fabric::transport_limits& limits() const noexcept override { return limits_; }
  fabric::address local_address() const override { return {std::byte{1}}; }
  void start(std::span<const fabric::address>, std::size_t) override {}

  bool inject(int, std::span<const std::byte> frame) override {
    if (feed_.refusing) return false;
    note(frame);
    return true;
  }
  bool send(int peer, std::span<const std::byte> frame, fabric::transfer& context) override {
    if (feed_.refusing) return false;
    note(frame);
    feed_.transfers.push_back({peer, &context, frame, {}, frame.size(), {}, true});
    return true;
  }
  bool send_payload(int peer, std::uint64_t, std::span<const std::byte> bytes, fabric::transfer& context) override {
    if (feed_.refusing) return false;
    feed_.transfers.push_back({peer, &context, bytes, {}, bytes.size(), {}, false});
    return true;
  }
  bool receive_payload(int peer, std::uint64_t, std::span<std::byte> bytes, fabric::transfer& context) override {
    if (feed_.refusing || feed_.transfers.size() >= limits_.receives) return false;
    feed_.transfers.push_back({peer, &context, {}, bytes, 0, {}, false});
    return true;
  }
  void cancel(fabric::transfer& context) override {
    for (feed::posted_transfer& each : feed_.transfers)
      if (each.context == &context && !each.ended)
        feed_.end(each, 0, std::make_error_code(std::errc::operation_canceled));
  }
  void cut(int peer, std::uint64_t) noexcept override {
    for (feed::posted_transfer& each : feed_.transfers)
      if (each.peer == peer && !each.ended) feed_.end(each, 0, std::make_error_code(std::errc::connection_aborted));
  }

  std::size_t poll(fabric::receiver& to) override {
    std::size_t events = 0;
    if (std::exchange(feed_.dropping, false)) to.dropped();
    for (const auto& frame : std::exchange(feed_.frames, {})) {
      to.arrived(frame);
      ++events;
    }
    std::vector<feed::posted_transfer> ended;
    for (const feed::posted_transfer& each : feed_.transfers)
      if (each.ended) ended.push_back(each);
    std::erase_if(feed_.transfers, [](const feed::posted_transfer& each) { return each.ended; });
    for (const feed::posted_transfer& each : ended) {
      feed_.read(each.leaves);
      to.done(*each.context, each.bytes, each.error);
      ++events;
    }
    return events;
  }

 private:
  void note(std::span<const std::byte> frame) {
    using namespace fabric;
    feed_.read(frame);
    if (frame.size() < sizeof(header)) return;
    const auto head = read_part<header>(frame, 0);
    if (head.kind == message_kind::envelope)
      feed_.names.push_back(read_part<envelope_body>(frame, sizeof(header)).sender_name);
    if (head.kind == message_kind::grant) feed_.names.push_back(read_part<grant_body>(frame, sizeof(header)).id);
  }

  feed& feed_;
  fabric::transport_limits limits_;
};

}  // namespace weft_fuzz
