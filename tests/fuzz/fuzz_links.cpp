// SPDX-License-Identifier: Apache-2.0
// Frames that two joined links take from two other processes, while their user sends, receives, cancels and cuts, and
// while transfers fail.
//
// The input is a row of actions. Most frames have the right key and a number that is soon expected: others are dropped
// where they come in.
#include <array>
#include <deque>
#include <memory>
#include <set>
#include <weft/fabric/joined_links.hpp>

#include "fabric/links/link_frame.hpp"
#include "fed_transport.hpp"
#include "input.hpp"

using namespace weft_fuzz;

namespace {

constexpr std::array<std::uint32_t, 3> keys{1, 2, 3};  // 0 is this process
constexpr std::size_t links = 2;

class user final : public fabric::receiver {
 public:
  user() {
    std::vector<std::unique_ptr<fabric::transport>> ends;
    for (feed& each : feeds_) ends.push_back(std::make_unique<fed_transport>(each));
    fabric::joined_links_settings settings;
    settings.keys.assign(keys.begin(), keys.end());
    settings.works = [this](int link) { return (down_ >> link & 1) == 0; };
    joined_ = fabric::join_links(std::move(ends), std::move(settings));
    const std::vector<fabric::address> peers(keys.size(), joined_->local_address());
    joined_->start(peers, 4096);
    joined_->keep_links(3);
  }

  void act(input& from) {
    const int peer = 1 + static_cast<int>(from.below(2));
    switch (from.below(9)) {
      case 0:
        joined_->inject(peer, std::array<std::byte, 2000>{});
        return;
      case 1:
        joined_->inject(peer, std::array<std::byte, 64>{});
        return;
      case 2:
      case 3:
        return begin(peer, from);
      case 4:
        if (!begun_.empty()) joined_->cancel(**std::next(begun_.begin(), static_cast<long>(from.below(begun_.size()))));
        return;
      case 5:
        if (from.below(16) == 0) joined_->cut(peer, 0);
        return;
      case 6:
        return end(feeds_[from.below(links)], from);
      case 7:
        feeds_[from.below(links)].refusing = from.below(4) == 0;
        if (from.below(32) == 0) down_ = from.take();
        return;
      case 8:
        return arrive(peer, from);
      default:
        joined_->poll(*this);
    }
  }

  void arrived(std::span<const std::byte> frame) override {
    for (const std::byte each : frame) sum_ += static_cast<std::size_t>(each);
  }
  void done(fabric::transfer& ended, std::size_t, std::error_code) override { require(begun_.erase(&ended) == 1); }

 private:
  static std::uint64_t tag(input& from) { return std::uint64_t{from.below(4)} << 32 | from.below(3); }

  /// Of a tag, to or from a process, there is one at a time.
  void begin(int peer, input& from) {
    const bool lands = from.below(2) == 0;
    const std::uint64_t its = tag(from);
    if (!used_.insert({lands, peer, its}).second) return;
    fabric::transfer& context = transfers_.emplace_back();
    std::vector<std::byte>& memory = memory_.emplace_back(100);
    const bool taken = lands ? joined_->receive_payload(peer, its, memory, context)
                             : joined_->send_payload(peer, its, memory, context);
    if (taken)
      begun_.insert(&context);
    else
      used_.erase({lands, peer, its});
  }

  static void end(feed& its, input& from) {
    if (its.transfers.empty()) return;
    feed::posted_transfer& one = its.transfers[from.below(its.transfers.size())];
    if (one.ended) return;
    const std::uint8_t how = from.take();
    const std::size_t whole = std::max(one.lands.size(), one.leaves.size());
    its.end(one, how < 240 ? whole : 0,
            how < 240 ? std::error_code() : std::make_error_code(std::errc::connection_reset));
  }

  void arrive(int peer, input& from) {
    fabric::link_header head;
    head.process = static_cast<std::uint32_t>(peer);
    head.key = keys[static_cast<std::size_t>(peer)] + (from.below(32) == 0 ? 1 : 0);
    std::uint32_t& next = next_[static_cast<std::size_t>(peer)];
    head.sequence = from.below(4) == 0 ? next + static_cast<std::uint32_t>(from.below(8)) - 4 : next++;
    head.expected = static_cast<std::uint32_t>(from.below(16));
    head.word = static_cast<fabric::link_word>(from.below(8));
    head.link = from.below(8) == 0 ? fabric::no_link : static_cast<std::uint16_t>(from.below(3));
    std::vector<std::byte> frame(sizeof head + sizeof(fabric::tag_body));
    std::memcpy(frame.data(), &head, sizeof head);
    const fabric::tag_body body{tag(from)};
    std::memcpy(frame.data() + sizeof head, &body, sizeof body);
    if (from.below(16) == 0) frame.resize(from.below(frame.size()) + 1);
    feeds_[from.below(links)].frames.push_back(std::move(frame));
  }

  std::array<feed, links> feeds_;
  std::deque<fabric::transfer> transfers_;
  std::deque<std::vector<std::byte>> memory_;
  std::set<fabric::transfer*> begun_;
  std::set<std::tuple<bool, int, std::uint64_t>> used_;
  std::array<std::uint32_t, keys.size()> next_{};
  std::uint32_t down_ = 0;
  std::size_t sum_ = 0;
  std::unique_ptr<fabric::transport> joined_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input from(data, size);
  user its;
  while (!from.empty()) its.act(from);
  return 0;
}
