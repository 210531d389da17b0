// SPDX-License-Identifier: Apache-2.0
#include "libfabric_endpoint.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <bit>
#include <string>
#include <weft/runtime/error.hpp>

#include "libfabric_library.hpp"
#include "signal_handlers_kept.hpp"

namespace weft::fabric {
namespace {

/// Opens by `call`, which writes what it opened through its argument and returns a libfabric result.
template <class Fid, class Call>
fabric_handle<Fid> opened(const std::string& provider, const char* name, Call call) {
  Fid* made = nullptr;
  check_fabric(call(&made), provider, name);
  return fabric_handle<Fid>(made);
}

/// The bits of a tag that the provider carries: all below the format's highest (fi_endpoint(3), mem_tag_format).
std::uint64_t carried_bits(std::uint64_t format) {
  const int width = std::bit_width(format);
  return width == 64 || width == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

address name_of(fid_ep* endpoint, const std::string& provider) {
  address name(64);
  std::size_t size = name.size();
  int result = fi_getname(&endpoint->fid, name.data(), &size);
  if (result == -FI_ETOOSMALL) {
    name.resize(size);
    result = fi_getname(&endpoint->fid, name.data(), &size);
  }
  check_fabric(result, provider, "fi_getname");
  name.resize(size);
  return name;
}

}  // namespace

libfabric_endpoint::libfabric_endpoint(const provider_choice& chosen, std::size_t frame)
    : info_(libfabric().dupinfo(chosen.info.get())) {
  if (info_ == nullptr) throw_fabric_error(chosen.provider, "fi_dupinfo", FI_ENOMEM);
  limits_.provider = chosen.provider;
  limits_.payload = info_->ep_attr->max_msg_size;
  limits_.frame = std::min(frame, limits_.payload);
  limits_.inject = std::min(info_->tx_attr->inject_size, limits_.frame);
  limits_.tag_mask = carried_bits(info_->ep_attr->mem_tag_format);
  limits_.receives = info_->rx_attr->size / 2;  // shm needs an entry of the same queue for each frame that arrives
  two_ = limits_.in_turn = traits_of(chosen.provider).one_stream;
  const signal_handlers_kept kept;
  open_domain();
  endpoint_ = opened_endpoint();
  if (two_) payload_endpoint_ = opened_endpoint();
}

void libfabric_endpoint::open_domain() {
  const std::string& name = limits_.provider;
  fabric_ = opened<fid_fabric>(
      name, "fi_fabric", [&](fid_fabric** made) { return libfabric().fabric(info_->fabric_attr, made, nullptr); });
  domain_ = opened<fid_domain>(name, "fi_domain",
                               [&](fid_domain** made) { return fi_domain(fabric_.get(), info_.get(), made, nullptr); });
  fi_av_attr av{};
  av.type = info_->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_TABLE : info_->domain_attr->av_type;
  addresses_ =
      opened<fid_av>(name, "fi_av_open", [&](fid_av** made) { return fi_av_open(domain_.get(), &av, made, nullptr); });
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_DATA;
  cq.size = (info_->tx_attr->size + info_->rx_attr->size) * (two_ ? 2 : 1);
  cq.wait_obj = FI_WAIT_NONE;
  completions_ =
      opened<fid_cq>(name, "fi_cq_open", [&](fid_cq** made) { return fi_cq_open(domain_.get(), &cq, made, nullptr); });
}

fabric_handle<fid_ep> libfabric_endpoint::opened_endpoint() const {
  const std::string& name = limits_.provider;
  auto made = opened<fid_ep>(name, "fi_endpoint",
                             [&](fid_ep** made) { return fi_endpoint(domain_.get(), info_.get(), made, nullptr); });
  check_fabric(fi_ep_bind(made.get(), &addresses_->fid, 0), name, "fi_ep_bind of the address vector");
  check_fabric(fi_ep_bind(made.get(), &completions_->fid, FI_TRANSMIT | FI_RECV), name,
               "fi_ep_bind of the completion queue");
  // libfabric says to set it first, but shm before 2.1 crashes then (ofiwg/libfabric issue 10591), and from 2.1 on it
  // has no effect later.
  const bool late = traits_of(name).late_option && FI_VERSION_LT(libfabric().version(), FI_VERSION(2, 1));
  if (!late) set_smallest_rest(made.get());
  check_fabric(fi_enable(made.get()), name, "fi_enable");
  if (late) set_smallest_rest(made.get());
  return made;
}

/// A buffer for frames with less room than one is given back.
void libfabric_endpoint::set_smallest_rest(fid_ep* of) const {
  check_fabric(fi_setopt(&of->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &limits_.frame, sizeof limits_.frame),
               limits_.provider, "fi_setopt FI_OPT_MIN_MULTI_RECV");
}

address libfabric_endpoint::local_address() const {
  address all = name_of(endpoint_.get(), limits_.provider);
  if (!has_two()) return all;
  const address other = name_of(payload_endpoint_.get(), limits_.provider);
  all.insert(all.end(), other.begin(), other.end());
  return all;
}

fi_addr_t libfabric_endpoint::insert_one(address peer) const {
  fi_addr_t one = FI_ADDR_UNSPEC;
  peer.push_back(std::byte{0});  // addresses that are strings end there
  const int count = fi_av_insert(addresses_.get(), peer.data(), 1, &one, 0, nullptr);
  if (count != 1) throw_fabric_error(limits_.provider, "fi_av_insert", count < 0 ? count : -FI_EINVAL);
  return one;
}

std::vector<peer_addresses> libfabric_endpoint::insert(std::span<const address> peers) {
  const std::size_t size = local_address().size();
  for (const address& peer : peers) {
    if (peer.size() != size && info_->addr_format != FI_ADDR_STR) {
      throw error(errc::invalid_argument, "libfabric provider " + limits_.provider + ": a peer's address has " +
                                              std::to_string(peer.size()) + " bytes instead of " +
                                              std::to_string(size));
    }
  }
  std::vector<peer_addresses> inserted;
  for (const address& peer : peers) {  // one by one: addresses that are strings differ in length
    peer_addresses both;
    both.frames = both.payloads = insert_one(frames_of(peer));
    if (has_two()) both.payloads = insert_one(payloads_of(peer));
    inserted.push_back(both);
  }
  return inserted;
}

}  // namespace weft::fabric
