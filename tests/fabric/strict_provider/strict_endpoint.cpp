// SPDX-License-Identifier: Apache-2.0
// What is posted: every rule about memory, contexts, sizes and queues.
#include <cstring>
#include <string_view>

#include "strict_objects.hpp"
#include "strict_rules.hpp"

namespace strict {
namespace {

constexpr unsigned refusals = 40;  // one call in so many meets -FI_EAGAIN

endpoint& of(fid_ep* fid) { return *reinterpret_cast<endpoint*>(fid); }

std::uint64_t checksum_of(const operation& sent) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(sent.sent), sent.size});
}

/// The registration that `descriptor` is, which must hold all of the memory.
registration* check_memory(endpoint& its, const void* memory, std::size_t size, void* descriptor,
                           std::uint64_t access) {
  if (size == 0) return nullptr;
  if (descriptor == nullptr) broken("FI_MR_LOCAL", "memory is posted without a descriptor");
  auto* const found = static_cast<registration*>(descriptor);
  if (!its.of->registrations.contains(found)) broken("FI_MR_LOCAL", "a descriptor is that of no live registration");
  const auto* const begin = static_cast<const std::byte*>(memory);
  if (begin < found->begin || begin + size > found->begin + found->size)
    broken("FI_MR_LOCAL", "memory is posted that its registration does not hold");
  if ((found->access & access) == 0) broken("FI_MR_LOCAL", "a registration is not for this direction");
  return found;
}

void check_context(endpoint& its, void* context) {
  if (context == nullptr) broken("FI_CONTEXT2", "a transfer has no context");
  const auto place = reinterpret_cast<std::uintptr_t>(context);
  if (place % alignof(fi_context2) != 0) broken("FI_CONTEXT2", "a context is not aligned");
  const auto next = its.flying.lower_bound(place);
  const bool above = next != its.flying.end() && next->first < place + sizeof(fi_context2);
  const bool below = next != its.flying.begin() && std::prev(next)->first + sizeof(fi_context2) > place;
  if (above || below) broken("FI_CONTEXT2", "a context is posted again before its transfer has ended");
}

struct posting {
  const void* memory;
  std::size_t size;
  void* descriptor;
  void* context;
  bool sends;
  bool many = false;
};

/// Checks what is posted and hands it on by `post(real descriptor, real context)`.
template <class Post>
ssize_t posted(endpoint& its, const posting& what, Post post) {
  const call inside(*its.of);
  if (!its.enabled) broken("fi_enable", "a transfer is posted to an endpoint that is not enabled");
  if (what.size > its.longest) broken("max_msg_size", "a transfer of " + std::to_string(what.size) + " bytes");
  registration* const memory =
      check_memory(its, what.memory, what.size, what.descriptor, what.sends ? FI_SEND : FI_RECV);
  check_context(its, what.context);
  if (one_in(refusals, its.of->random)) return -FI_EAGAIN;
  std::size_t& count = what.sends ? its.posted_sends : its.posted_receives;
  if (count == (what.sends ? its.sends : its.receives)) return -FI_EAGAIN;

  auto begun = std::make_unique<operation>();
  *begun = {
      .context = what.context, .of = &its, .memory = memory, .sends = what.sends, .size = what.size, .many = what.many};
  if (what.sends) {
    begun->sent = static_cast<const std::byte*>(what.memory);
    begun->checksum = checksum_of(*begun);
  }
  for (void*& each : begun->scribble.internal) each = reinterpret_cast<void*>(its.of->random());
  const ssize_t result = post(memory != nullptr ? memory->real->mem_desc : nullptr, &begun->real_context);
  if (result != 0) return result;
  std::memcpy(what.context, &begun->scribble, sizeof begun->scribble);
  if (memory != nullptr) ++memory->in_use;
  ++count;
  its.flying.emplace(reinterpret_cast<std::uintptr_t>(what.context), std::move(begun));
  return 0;
}

template <class Post>
ssize_t injected(endpoint& its, std::size_t size, Post post) {
  const call inside(*its.of);
  if (size > its.inject)
    broken("inject_size", std::to_string(size) + " bytes are injected where " + std::to_string(its.inject) + " may be");
  return one_in(refusals, its.of->random) ? -FI_EAGAIN : post();
}

ssize_t send(fid_ep* ep, const void* memory, std::size_t size, void* descriptor, fi_addr_t peer, void* context) {
  return posted(of(ep), {memory, size, descriptor, context, true},
                [&](void* its, void* name) { return fi_send(of(ep).real, memory, size, its, peer, name); });
}

ssize_t senddata(fid_ep* ep, const void* memory, std::size_t size, void* descriptor, std::uint64_t data, fi_addr_t peer,
                 void* context) {
  if (data >> 32 != 0) broken("cq_data_size", "more than 4 bytes of data go with a message");
  return posted(of(ep), {memory, size, descriptor, context, true},
                [&](void* its, void* name) { return fi_senddata(of(ep).real, memory, size, its, data, peer, name); });
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t size, fi_addr_t peer) {
  return injected(of(ep), size, [&] { return fi_inject(of(ep).real, memory, size, peer); });
}

ssize_t injectdata(fid_ep* ep, const void* memory, std::size_t size, std::uint64_t data, fi_addr_t peer) {
  if (data >> 32 != 0) broken("cq_data_size", "more than 4 bytes of data go with a message");
  return injected(of(ep), size, [&] { return fi_injectdata(of(ep).real, memory, size, data, peer); });
}

ssize_t recvmsg(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  if (message->iov_count != 1) broken("iov_limit", "a receive of several parts");
  const iovec& memory = message->msg_iov[0];
  void* const descriptor = message->desc != nullptr ? message->desc[0] : nullptr;
  const bool many = (flags & FI_MULTI_RECV) != 0;
  return posted(of(ep), {memory.iov_base, memory.iov_len, descriptor, message->context, false, many},
                [&](void* its, void* name) {
                  fi_msg handed = *message;
                  handed.desc = &its;
                  handed.context = name;
                  return fi_recvmsg(of(ep).real, &handed, flags);
                });
}

ssize_t tagged_send(fid_ep* ep, const void* memory, std::size_t size, void* descriptor, fi_addr_t peer,
                    std::uint64_t tag, void* context) {
  if (tag >> 48 != 0) broken("mem_tag_format", "a tag has more than 48 bits");
  return posted(of(ep), {memory, size, descriptor, context, true},
                [&](void* its, void* name) { return fi_tsend(of(ep).real, memory, size, its, peer, tag, name); });
}

ssize_t tagged_receive(fid_ep* ep, void* memory, std::size_t size, void* descriptor, fi_addr_t peer, std::uint64_t tag,
                       std::uint64_t ignore, void* context) {
  if (tag >> 48 != 0) broken("mem_tag_format", "a tag has more than 48 bits");
  return posted(of(ep), {memory, size, descriptor, context, false}, [&](void* its, void* name) {
    return fi_trecv(of(ep).real, memory, size, its, peer, tag, ignore, name);
  });
}

ssize_t cancel(struct fid* ep, void* context) {
  endpoint& its = *reinterpret_cast<endpoint*>(ep);
  const call inside(*its.of);
  const auto found = its.flying.find(reinterpret_cast<std::uintptr_t>(context));
  return found == its.flying.end() ? -FI_ENOENT : fi_cancel(&its.real->fid, &found->second->real_context);
}

int getopt(struct fid* ep, int level, int name, void* value, std::size_t* size) {
  return fi_getopt(&reinterpret_cast<endpoint*>(ep)->real->fid, level, name, value, size);
}

int setopt(struct fid* ep, int level, int name, const void* value, std::size_t size) {
  return fi_setopt(&reinterpret_cast<endpoint*>(ep)->real->fid, level, name, value, size);
}

int getname(struct fid* ep, void* address, std::size_t* size) {
  return fi_getname(&reinterpret_cast<endpoint*>(ep)->real->fid, address, size);
}

int bind(struct fid* ep, struct fid* bound, std::uint64_t flags) {
  endpoint& its = *reinterpret_cast<endpoint*>(ep);
  if (bound->fclass != FI_CLASS_CQ) return fi_ep_bind(its.real, bound, flags);
  its.completions = reinterpret_cast<queue*>(bound);
  ++its.completions->endpoints;
  return fi_ep_bind(its.real, &its.completions->real->fid, flags);
}

int control(struct fid* ep, int command, void* argument) {
  endpoint& its = *reinterpret_cast<endpoint*>(ep);
  its.enabled = command == FI_ENABLE;
  return its.real->fid.ops->control(&its.real->fid, command, argument);
}

/// Every transfer in flight ends here, without a completion.
int close_endpoint(struct fid* ep) {
  endpoint& its = *reinterpret_cast<endpoint*>(ep);
  const call inside(*its.of);
  const int result = fi_close(&its.real->fid);
  const auto is_its = [&](const completion& each) { return each.of != nullptr && each.of->of == &its; };
  std::erase_if(its.completions->held, is_its);
  std::erase_if(its.completions->failures, is_its);
  for (const auto& [place, over] : its.flying)  // their contexts may be gone already
    if (over->memory != nullptr) --over->memory->in_use;
  --its.completions->endpoints;
  --its.of->open_objects;
  delete &its;
  return result;
}

fi_ops endpoint_calls = {.size = sizeof(fi_ops), .close = close_endpoint, .bind = bind, .control = control};
fi_ops_ep endpoint_options = {.size = sizeof(fi_ops_ep), .cancel = cancel, .getopt = getopt, .setopt = setopt};
fi_ops_cm endpoint_names = {.size = sizeof(fi_ops_cm), .getname = getname};
fi_ops_msg endpoint_messages = {.size = sizeof(fi_ops_msg),
                                .recvmsg = recvmsg,
                                .send = send,
                                .inject = inject,
                                .senddata = senddata,
                                .injectdata = injectdata};
fi_ops_tagged endpoint_tagged = {.size = sizeof(fi_ops_tagged), .recv = tagged_receive, .send = tagged_send};

}  // namespace

void end(operation& over) {
  if (std::memcmp(over.context, &over.scribble, sizeof over.scribble) != 0)
    broken("FI_CONTEXT2", "a context has been written to while its transfer was in flight");
  if (over.sent != nullptr && checksum_of(over) != over.checksum)
    broken("send", "memory that is sent has been written to before its completion");
  if (over.memory != nullptr) --over.memory->in_use;
  --(over.sends ? over.of->posted_sends : over.of->posted_receives);
  over.of->flying.erase(reinterpret_cast<std::uintptr_t>(over.context));
}

int open_endpoint(fid_domain* in, fi_info* info, fid_ep** made, void* context) {
  auto opened = std::make_unique<endpoint>();
  opened->of = reinterpret_cast<domain*>(in);
  const int result = fi_endpoint(opened->of->real, plain_info(*info).get(), &opened->real, context);
  if (result != 0) return result;
  opened->fid.fid = {FI_CLASS_EP, context, &endpoint_calls};
  opened->fid.ops = &endpoint_options;
  opened->fid.cm = &endpoint_names;
  opened->fid.msg = &endpoint_messages;
  opened->fid.tagged = &endpoint_tagged;
  opened->inject = info->tx_attr->inject_size;
  opened->longest = info->ep_attr->max_msg_size;
  opened->receives = info->rx_attr->size;
  opened->sends = info->tx_attr->size;
  ++opened->of->open_objects;
  *made = &opened.release()->fid;
  return 0;
}

}  // namespace strict
