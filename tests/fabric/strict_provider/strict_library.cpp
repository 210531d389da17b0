// SPDX-License-Identifier: Apache-2.0
// A libfabric.so.1 that stands before the real one and makes its providers demand what those of fast networks do, all
// at once (fabric/PROVIDERS.md). It is found in place of the real one through LD_LIBRARY_PATH. What the program does
// against the rules ends it.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "strict_objects.hpp"
#include "strict_rules.hpp"

namespace strict {
namespace {

constexpr std::uint64_t modes = FI_CONTEXT | FI_CONTEXT2;
constexpr int memory_modes = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

void* real_symbol(const char* name) {
  static void* const library = dlopen(WEFT_REAL_LIBFABRIC, RTLD_NOW | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) broken("set-up", std::string(WEFT_REAL_LIBFABRIC) + " or its " + name + " is not to be had");
  return found;
}

template <class Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(real_symbol(name));
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

void demand(fi_info& offered) {
  offered.mode |= modes;
  offered.domain_attr->mr_mode |= memory_modes;
  offered.domain_attr->threading = FI_THREAD_DOMAIN;
  offered.domain_attr->cq_data_size = std::min<std::size_t>(offered.domain_attr->cq_data_size, 4);
  offered.tx_attr->mode |= modes;
  offered.rx_attr->mode |= modes;
  offered.tx_attr->inject_size = std::min(offered.tx_attr->inject_size, chosen().inject);
  offered.tx_attr->size = std::min<std::size_t>(offered.tx_attr->size, 128);
  offered.rx_attr->size = std::min<std::size_t>(offered.rx_attr->size, 256);
  offered.tx_attr->msg_order &= FI_ORDER_SAS;
  offered.rx_attr->msg_order &= FI_ORDER_SAS;
  offered.tx_attr->comp_order = offered.rx_attr->comp_order = 0;  // none; libfabric 2 would not have it named
  offered.ep_attr->max_msg_size = std::min<std::size_t>(offered.ep_attr->max_msg_size, 1 << 30);
  offered.ep_attr->mem_tag_format &= (std::uint64_t{1} << 48) - 1;
}

/// What the provider in disguise is.
const char* plain_name() { return FI_VERSION_LT(::fi_version(), FI_VERSION(1, 18)) ? "net" : "tcp"; }
constexpr std::uint32_t plain_addresses = FI_SOCKADDR_IN, disguised_addresses = FI_ADDR_EFA;

bool is_disguised(const fi_fabric_attr& attributes) {
  return !chosen().name.empty() && attributes.prov_name != nullptr && chosen().name == attributes.prov_name;
}

int find_disguised(std::uint32_t version, const char* node, const fi_info& hints, fi_info** found) {
  if (node != nullptr) return -FI_ENODATA;
  const plain_info asked(hints);
  const int result =
      real("fi_getinfo", &::fi_getinfo)(version, "127.0.0.1", nullptr, FI_SOURCE | FI_NUMERICHOST, asked.get(), found);
  for (fi_info* each = result == 0 ? *found : nullptr; each != nullptr; each = each->next) {
    std::free(each->fabric_attr->prov_name);
    each->fabric_attr->prov_name = strdup(chosen().name.c_str());
    each->addr_format = disguised_addresses;
  }
  return result;
}

int close_fabric(struct fid* closed) {
  auto& its = *reinterpret_cast<fabric*>(closed);
  if (its.open_domains != 0) broken("closing", "a fabric is closed before its domains");
  const int result = fi_close(&its.real->fid);
  delete &its;
  return result;
}

fi_ops fabric_calls = {.size = sizeof(fi_ops), .close = close_fabric};
fi_ops_fabric fabric_opens = {.size = sizeof(fi_ops_fabric), .domain = open_domain};

}  // namespace

plain_info::plain_info(const fi_info& given) : info_(given), fabric_(plain_fabric(*given.fabric_attr)) {
  info_.fabric_attr = &fabric_;
  if (is_disguised(*given.fabric_attr) && given.addr_format == disguised_addresses) info_.addr_format = plain_addresses;
}

fi_fabric_attr plain_fabric(const fi_fabric_attr& given) {
  fi_fabric_attr plain = given;
  if (is_disguised(given)) plain.prov_name = const_cast<char*>(plain_name());
  return plain;
}

const settings& chosen() {
  const auto text = [](const char* variable) { return std::getenv(variable) != nullptr ? std::getenv(variable) : ""; };
  static const settings all{number_of("WEFT_TEST_SEED", std::random_device()()),
                            static_cast<std::size_t>(number_of("WEFT_STRICT_INJECT", 64)), text("WEFT_STRICT_NAME"),
                            *text("WEFT_STRICT_FRAMES") != '\0'};
  return all;
}

void broken(const std::string& rule, const std::string& how) {
  std::fprintf(stderr, "strict provider: %s: %s (WEFT_TEST_SEED=%llu)\n", rule.c_str(), how.c_str(),
               static_cast<unsigned long long>(chosen().seed));
  std::abort();
}

}  // namespace strict

#pragma GCC visibility push(default)
extern "C" {

int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
               fi_info** info) {
  using namespace strict;
  if (hints != nullptr &&
      ((hints->mode & FI_CONTEXT2) == 0 || (hints->domain_attr->mr_mode & memory_modes) != memory_modes))
    return -FI_ENODATA;
  const int result = hints != nullptr && is_disguised(*hints->fabric_attr)
                         ? find_disguised(version, node, *hints, info)
                         : real("fi_getinfo", &::fi_getinfo)(version, node, service, flags, hints, info);
  for (fi_info* each = result == 0 ? *info : nullptr; each != nullptr; each = each->next) demand(*each);
  return result;
}

fi_info* fi_dupinfo(const fi_info* info) { return strict::real("fi_dupinfo", &::fi_dupinfo)(info); }
void fi_freeinfo(fi_info* info) { strict::real("fi_freeinfo", &::fi_freeinfo)(info); }
const char* fi_strerror(int number) { return strict::real("fi_strerror", &::fi_strerror)(number); }
std::uint32_t fi_version() { return strict::real("fi_version", &::fi_version)(); }

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** made, void* context) {
  auto opened = std::make_unique<strict::fabric>();
  fi_fabric_attr plain = strict::plain_fabric(*attributes);
  const int result = strict::real("fi_fabric", &::fi_fabric)(&plain, &opened->real, context);
  if (result != 0) return result;
  opened->fid.fid = {FI_CLASS_FABRIC, context, &strict::fabric_calls};
  opened->fid.ops = &strict::fabric_opens;
  opened->fid.api_version = opened->real->api_version;
  *made = &opened.release()->fid;
  return 0;
}
}
#pragma GCC visibility pop
