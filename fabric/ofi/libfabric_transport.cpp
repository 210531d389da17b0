// SPDX-License-Identifier: Apache-2.0
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <stdexcept>
#include <vector>
#include <weft/fabric/libfabric_transport.hpp>
#include <weft/runtime/error.hpp>

#include "forgetful_provider.hpp"
#include "frame_buffers.hpp"
#include "libfabric_endpoint.hpp"
#include "libfabric_registration.hpp"
#include "tcp_connections.hpp"

namespace weft::fabric {
namespace {

static_assert(sizeof(fi_context2) <= sizeof(transfer::provider_space) && alignof(fi_context2) <= alignof(transfer));

std::error_code code_of(int fabric_error) {
  if (fabric_error == FI_ETRUNC) return errc::truncated;
  if (fabric_error < FI_ERRNO_OFFSET) return {fabric_error, std::generic_category()};  // libfabric's are errno's there
  return errc::provider_failed;
}

class libfabric_transport final : public transport {
 public:
  libfabric_transport(const provider_choice& chosen, const libfabric_options& options)
      : endpoint_(chosen, options.frame),
        registration_(endpoint_, options.force_local_registration),
        arrivals_(endpoint_, registration_),
        receives_left_(endpoint_.limits().receives) {}

  ~libfabric_transport() override { endpoint_.close(); }  // before the buffers and the registrations that it uses

  const transport_limits& limits() const noexcept override { return endpoint_.limits(); }
  address local_address() const override { return endpoint_.local_address(); }

  void start(std::span<const address> peers, std::size_t receive_bytes) override {
    if (!peers_.empty()) throw std::logic_error("libfabric_transport: start was called twice");
    peers_ = endpoint_.insert(peers);
    addresses_.assign(peers.begin(), peers.end());
    knocked_.assign(peers.size(), !endpoint_.has_two());
    arrivals_.post(receive_bytes);
    listen_for_knocks();
  }

  bool inject(int peer, std::span<const std::byte> frame) override {
    if (!knock(peer)) return false;
    const forgetful_provider connects;
    return accepted(fi_inject(endpoint_.get(), frame.data(), frame.size(), peers_[peer].frames), "fi_inject");
  }

  bool send(int peer, std::span<const std::byte> frame, transfer& context) override {
    if (!knock(peer)) return false;
    void* descriptor = nullptr;
    if (!registration_.add(frame, FI_SEND, context, descriptor)) return false;
    context.receiving = false;
    const forgetful_provider connects;
    return begun(fi_send(endpoint_.get(), frame.data(), frame.size(), descriptor, peers_[peer].frames, &context),
                 "fi_send", context);
  }

  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes, transfer& context) override {
    void* descriptor = nullptr;
    if (!registration_.add(bytes, FI_SEND, context, descriptor)) return false;
    context.receiving = false;
    const forgetful_provider connects;
    return begun(
        fi_tsend(endpoint_.payloads(), bytes.data(), bytes.size(), descriptor, peers_[peer].payloads, tag, &context),
        "fi_tsend", context);
  }

  bool receive_payload(int peer, std::uint64_t tag, std::span<std::byte> bytes, transfer& context) override {
    if (receives_left_ == 0) return false;
    void* descriptor = nullptr;
    if (!registration_.add(bytes, FI_RECV, context, descriptor)) return false;
    const ssize_t result =
        fi_trecv(endpoint_.payloads(), bytes.data(), bytes.size(), descriptor, peers_[peer].payloads, tag, 0, &context);
    if (!begun(result == -FI_ENOMEM ? -FI_EAGAIN : result, "fi_trecv", context)) return false;
    context.receiving = true;
    --receives_left_;
    return true;
  }

  void cancel(transfer& context) override {
    // -FI_ENOENT and the like: it has ended, or is ending. The completion says how.
    fi_cancel(&endpoint_.payloads()->fid, &context);
  }

  std::vector<std::uint64_t> settle_connections() override {
    if (!speaks_ip(endpoint_.info())) return {};
    const std::vector<std::uint32_t> frames = names_of_connections_to(all(&libfabric_endpoint::frames_of));
    const std::vector<address> others = all(&libfabric_endpoint::payloads_of);
    if (endpoint_.has_two()) limit_unsent(endpoint_.payloads_of(local_address()), others, most_unsent);
    const std::vector<std::uint32_t> payloads = names_of_connections_to(others);
    std::vector<std::uint64_t> both(frames.size());
    for (std::size_t peer = 0; peer < both.size(); ++peer)
      both[peer] = std::uint64_t{frames[peer]} << 32 | payloads[peer];
    return both;
  }

  void cut(int peer, std::uint64_t their_end) noexcept override {
    if (!speaks_ip(endpoint_.info())) return;
    try {
      const address own = endpoint_.local_address(), &theirs = addresses_[static_cast<std::size_t>(peer)];
      break_connection(endpoint_.payloads_of(own), endpoint_.payloads_of(theirs),
                       static_cast<std::uint32_t>(their_end));
      if (endpoint_.has_two())
        break_connection(endpoint_.frames_of(own), endpoint_.frames_of(theirs),
                         static_cast<std::uint32_t>(their_end >> 32));
    } catch (const std::exception&) {  // no memory: as if there were nothing to break
    }
  }

  std::size_t poll(receiver& to) override {
    fi_cq_data_entry entries[batch];
    const ssize_t count = read(entries);
    if (count == -FI_EAGAIN) [[likely]] {
      if (!arrivals_.all_posted()) arrivals_.repost();
      if (!listening_) listen_for_knocks();
      return 0;
    }
    if (count == -FI_EAVAIL) return report_error(to);
    if (count < 0) throw_fabric_error(limits().provider, "fi_cq_read", count);
    for (ssize_t index = 0; index < count; ++index) report(entries[index], to);
    if (!arrivals_.all_posted()) arrivals_.repost();
    if (!listening_) listen_for_knocks();
    return static_cast<std::size_t>(count);
  }

 private:
  static constexpr std::size_t batch = 64;
  /// Bytes of payloads: what the system has taken cannot be overtaken, so it gets a part of a piece. On a slow line it
  /// would else take megabytes, and call them sent.
  static constexpr int most_unsent = 256 << 10;

  /// The connection for payloads is opened before the first frame goes to a peer, and by the side that sends it: an
  /// empty message, of which nobody is told. False: it is not open yet.
  bool knock(int peer) {
    if (knocked_[static_cast<std::size_t>(peer)]) [[likely]]
      return true;
    const forgetful_provider connects;
    const ssize_t result = fi_inject(endpoint_.payloads(), nullptr, 0, peers_[peer].payloads);
    return knocked_[static_cast<std::size_t>(peer)] = accepted(result, "fi_inject of an empty message");
  }

  /// Takes one more such message. Where the provider is busy, in a later poll.
  void listen_for_knocks() {
    if (!endpoint_.has_two()) return;
    const iovec nothing{};
    void* descriptor = nullptr;
    fi_msg message{};
    message.msg_iov = &nothing;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = FI_ADDR_UNSPEC;
    message.context = &knock_;
    listening_ = accepted(fi_recvmsg(endpoint_.payloads(), &message, 0), "fi_recvmsg of an empty message");
  }

  std::vector<address> all(address (libfabric_endpoint::*part)(const address&) const) const {
    std::vector<address> parts;
    for (const address& each : addresses_) parts.push_back((endpoint_.*part)(each));
    return parts;
  }

  bool accepted(ssize_t result, const char* call) const {
    if (result == 0) [[likely]]
      return true;
    if (result == -FI_EAGAIN) return false;
    throw_fabric_error(limits().provider, call, result);
  }

  bool begun(ssize_t result, const char* call, transfer& context) {
    if (result == 0) [[likely]]
      return true;
    registration_.remove(context);
    return accepted(result, call);
  }

  void report(const fi_cq_data_entry& entry, receiver& to) {
    if (frame_buffers::buffer* const from = arrivals_.buffer_of(entry.op_context)) {
      // Some providers tell the release of a buffer with its last frame, some in an entry of its own, which has that
      // flag alone; its length is undefined.
      if (entry.flags != FI_MULTI_RECV && entry.len != 0) {
        to.arrived({static_cast<const std::byte*>(entry.buf), entry.len});
      }
      if ((entry.flags & FI_MULTI_RECV) != 0) arrivals_.released(*from);
      return;
    }
    if (entry.op_context == &knock_) {
      listening_ = false;
      return;
    }
    finish(*static_cast<transfer*>(entry.op_context), entry.len, {}, to);
  }

  ssize_t read(std::span<fi_cq_data_entry> entries) {
    const forgetful_provider connects;
    return fi_cq_read(endpoint_.completions(), entries.data(), entries.size());
  }

  std::size_t report_error(receiver& to) {
    fi_cq_err_entry failed{};
    const ssize_t count = fi_cq_readerr(endpoint_.completions(), &failed, 0);
    if (count == -FI_EAGAIN) return 0;
    if (count < 0) throw_fabric_error(limits().provider, "fi_cq_readerr", count);
    if (failed.op_context == nullptr) {
      to.dropped();
      return 1;
    }
    if (frame_buffers::buffer* const from = arrivals_.buffer_of(failed.op_context)) {
      // A frame broken off by its sender's end. The rest of the buffer stays posted unless it says otherwise.
      if ((failed.flags & FI_MULTI_RECV) != 0) arrivals_.released(*from);
      if (!arrivals_.all_posted()) arrivals_.repost();
      return 1;
    }
    if (failed.op_context == &knock_)
      listening_ = false;
    else
      finish(*static_cast<transfer*>(failed.op_context), 0, code_of(failed.err), to);
    return 1;
  }

  void finish(transfer& ended, std::size_t bytes, std::error_code error, receiver& to) {
    registration_.remove(ended);
    if (ended.receiving) ++receives_left_;
    to.done(ended, bytes, error);
  }

  libfabric_endpoint endpoint_;
  libfabric_registration registration_;
  frame_buffers arrivals_;
  std::size_t receives_left_;  // that may still be posted
  std::vector<peer_addresses> peers_;
  std::vector<address> addresses_;
  std::vector<bool> knocked_;  // at each peer: the connection for payloads is open
  fi_context2 knock_{};        // the provider's, while the next knock is waited for
  bool listening_ = true;      // for it, or none comes
};

}  // namespace

std::unique_ptr<transport> open_libfabric_transport(const provider_choice& chosen, const libfabric_options& options) {
  return std::make_unique<libfabric_transport>(chosen, options);
}

}  // namespace weft::fabric
