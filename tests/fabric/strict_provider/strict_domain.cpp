// SPDX-License-Identifier: Apache-2.0
// Domains and the memory registered with them.
#include "strict_objects.hpp"
#include "strict_rules.hpp"

namespace strict {
namespace {

int close_domain(struct fid* closed) {
  auto& its = *reinterpret_cast<domain*>(closed);
  if (its.open_objects != 0) broken("closing", "a domain is closed before what it owns");
  if (!its.registrations.empty()) broken("closing", "a domain is closed before its registrations");
  const int result = fi_close(&its.real->fid);
  --its.of->open_domains;
  delete &its;
  return result;
}

int close_registration(struct fid* closed) {
  auto& its = *reinterpret_cast<registration*>(closed);
  const call inside(*its.of);
  if (its.in_use != 0) broken("FI_MR_LOCAL", "a registration is closed while a transfer uses its memory");
  its.of->registrations.erase(&its);
  const int result = fi_close(&its.real->fid);
  delete &its;
  return result;
}

int open_addresses(fid_domain* of, fi_av_attr* attributes, fid_av** made, void* context) {
  return fi_av_open(reinterpret_cast<domain*>(of)->real, attributes, made, context);
}

fi_ops domain_calls = {.size = sizeof(fi_ops), .close = close_domain};
fi_ops registration_calls = {.size = sizeof(fi_ops), .close = close_registration};
fi_ops_mr domain_memory = {.size = sizeof(fi_ops_mr), .reg = open_registration};
fi_ops_domain domain_opens = {
    .size = sizeof(fi_ops_domain), .av_open = open_addresses, .cq_open = open_queue, .endpoint = open_endpoint};

}  // namespace

call::call(domain& into) : of_(into) {
  // acquire: what the thread before did in the domain comes first; its clear releases.
  if (of_.entered.test_and_set(std::memory_order_acquire))
    broken("FI_THREAD_DOMAIN", "two threads are in the same domain at once");
}

int open_domain(fid_fabric* of, fi_info* info, fid_domain** made, void* context) {
  static std::atomic<std::uint64_t> number{0};
  auto opened = std::make_unique<domain>();
  opened->of = reinterpret_cast<fabric*>(of);
  opened->random.seed(chosen().seed + number.fetch_add(1));
  const int result = fi_domain(opened->of->real, plain_info(*info).get(), &opened->real, context);
  if (result != 0) return result;
  opened->fid.fid = {FI_CLASS_DOMAIN, context, &domain_calls};
  opened->fid.ops = &domain_opens;
  opened->fid.mr = &domain_memory;
  ++opened->of->open_domains;
  *made = &opened.release()->fid;
  return 0;
}

int open_registration(struct fid* of, const void* memory, std::size_t size, std::uint64_t access, std::uint64_t offset,
                      std::uint64_t key, std::uint64_t flags, fid_mr** made, void* context) {
  domain& its = *reinterpret_cast<domain*>(of);
  const call inside(its);
  if (memory == nullptr || size == 0) broken("FI_MR_LOCAL", "no memory is registered");
  if (one_in(40, its.random)) return -FI_EAGAIN;
  auto opened = std::make_unique<registration>();
  const int result = fi_mr_reg(its.real, memory, size, access, offset, key, flags, &opened->real, context);
  if (result != 0) return result;
  opened->fid.fid = {FI_CLASS_MR, context, &registration_calls};
  opened->fid.mem_desc = opened.get();
  opened->fid.key = opened->real->key;
  opened->of = &its;
  opened->begin = static_cast<const std::byte*>(memory);
  opened->size = size;
  opened->access = access;
  its.registrations.insert(opened.get());
  *made = &opened.release()->fid;
  return 0;
}

}  // namespace strict
