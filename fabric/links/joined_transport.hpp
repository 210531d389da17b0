// SPDX-License-Identifier: Apache-2.0
// The transport over several links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>
#include <weft/fabric/joined_links.hpp>
#include <weft/runtime/error.hpp>

#include "carried.hpp"

namespace weft::fabric {

class joined_transport final : public transport {
 public:
  joined_transport(std::vector<std::unique_ptr<transport>> links, joined_links_settings settings);
  ~joined_transport() override;

  const transport_limits& limits() const noexcept override { return limits_; }
  address local_address() const override;
  void start(std::span<const address> peers, std::size_t receive_bytes) override;
  bool inject(int peer, std::span<const std::byte> frame) override;
  bool send(int peer, std::span<const std::byte> frame, transfer& context) override;
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) override;
  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) override;
  void cancel(transfer& context) override;
  void cut(int peer, std::uint64_t their_end) noexcept override;
  std::uint32_t links_in_contact() const override;
  void keep_links(std::uint32_t kept) override;
  std::size_t poll(receiver& to) override;

 private:
  /// What one link reports.
  struct link_events final : receiver {
    link_events(joined_transport& its, int number) : of(its), link(number) {}
    void arrived(std::span<const std::byte> frame) override { of.arrived(link, frame); }
    void done(transfer& ended, std::size_t bytes, std::error_code error) override {
      of.done(static_cast<carried&>(ended), bytes, error);
    }
    joined_transport& of;
    const int link;
  };
  enum class posting { taken, refused, gone };  ///< gone: the link has been given up
  struct ending {
    transfer* which;
    std::size_t bytes;
    std::error_code error;
  };

  partner& to(int peer) noexcept { return partners_[static_cast<std::size_t>(peer)]; }
  transport* link(int number) const noexcept { return links_[static_cast<std::size_t>(number)].get(); }
  static bool is_live(const partner& there, int number) noexcept { return (there.live >> number & 1) != 0; }

  // joined_transport.cpp
  void limit();
  kept_frame& make_frame(int peer, link_word word, int about, std::uint32_t sequence, std::span<const std::byte> body);
  kept_frame& keep_frame(int peer, link_word word, int about, std::span<const std::byte> body);
  void wait_to_leave(kept_frame& frame);
  stock<kept_frame>& frames_of(std::size_t bytes) noexcept;
  void drop(kept_frame& unneeded) noexcept;
  /// One that the link refuses for good costs us the link, or is thrown where that is the last one.
  template <class Post>
  posting attempt(int peer, int by, Post post) {
    try {
      return post() ? posting::taken : posting::refused;
    } catch (const error&) {
      if (!give_up(peer, by)) throw;
      return posting::gone;
    }
  }
  posting post(kept_frame& frame, int by);
  bool transmit(kept_frame& frame);
  int least_busy(const partner& there) const noexcept;
  static int link_of(std::uint32_t among, std::uint64_t tag) noexcept;
  posting post(moving_payload& payload, int by);
  void begin(moving_payload& payload, carried::what is, int peer, std::uint64_t tag, std::byte* data, std::size_t bytes,
             transfer& user) noexcept;
  void forget(moving_payload& payload) noexcept;
  posting try_to_post(moving_payload& payload, int by);
  void reserve_for_one(std::vector<moving_payload*>& among);
  void reserve_endings(std::size_t more);
  void end(moving_payload& payload, std::size_t bytes, std::error_code error) noexcept;
  void say(int peer, link_word word, int about, std::uint64_t tag = 0);
  void greet(int peer);
  void send_greetings(int peer);
  bool send_greeting(int peer, int by, bool asks);
  std::size_t report_ended(receiver& user);
  bool flush(int peer);
  void flush();
  void want_flush(int peer);

  // joined_arrival.cpp
  void arrived(int by, std::span<const std::byte> frame);
  void take(int peer, std::span<const std::byte> frame);
  void take_expected(partner& there, std::uint32_t expected) noexcept;
  void take_greeting(int peer, int by, bool asks);
  void take_landed(partner& there, std::uint64_t tag) noexcept;
  void take_elsewhere(partner& there, std::uint64_t tag, int by);
  void done(carried& ended, std::size_t bytes, std::error_code error);
  void frame_done(kept_frame& ended, std::error_code error);
  void departed(moving_payload& ended, std::error_code error);
  void landed(moving_payload& ended, std::size_t bytes, std::error_code error);

  // joined_loss.cpp
  bool give_up(int peer, int number);
  void broken(int peer, std::error_code error);
  void lose(int peer) noexcept;
  void look_at_links();
  void look_at_interfaces();
  void look_at_progress(int peer, clock::time_point now);
  posting post_or_break(moving_payload& payload, int by);
  void move_payloads();

  std::vector<std::unique_ptr<transport>> links_;  // null: not kept
  const joined_links_settings settings_;
  transport_limits limits_;
  std::vector<link_events> events_;
  std::vector<partner> partners_;
  std::vector<int> used_;                // links, in their order
  std::uint32_t kept_ = 1;               // the same, as a mask
  std::vector<std::size_t> busy_;        // bytes on the way out, by link
  std::vector<int> unflushed_;           // peers that have something unsent
  std::vector<bool> flush_wanted_;       // by peer: is in unflushed_
  std::vector<moving_payload*> moving_;  // that wait for a link to take them, both ways
  std::size_t underway_ = 0;             // payloads that have not ended
  std::vector<ending> ended_;            // for the user, with the next poll; has room for all that are under way
  std::vector<ending> reported_;         // likewise
  stock<kept_frame> short_frames_;
  stock<kept_frame> long_frames_;
  stock<moving_payload> payloads_;
  receiver* user_ = nullptr;  // during a poll
  clock::time_point next_look_{};
  clock::time_point next_look_at_progress_{};
  std::uint32_t down_ = 0;  // links whose interfaces are down here
};

}  // namespace weft::fabric
