/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an endpoint of PROVIDER, with a completion queue and an address vector, and writes its footprint into FOLDER.
     libfabric FOLDER PROVIDER */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <string.h>

#include "self.h"

static void check(int status, const char* call) {
  if (status == 0) return;
  fprintf(stderr, "%s: %s\n", call, fi_strerror(-status));
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  struct fi_info *hints = fi_allocinfo(), *info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_ep* endpoint;
  struct fid_cq* completions;
  struct fid_av* addresses;
  char name[256];
  size_t length = sizeof name;
  hints->caps = FI_MSG | FI_TAGGED;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = strdup(argv[2]);
  check(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info), "fi_getinfo");
  check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
  check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
  check(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
  check(fi_cq_open(domain, &(struct fi_cq_attr){.format = FI_CQ_FORMAT_TAGGED}, &completions, NULL), "fi_cq_open");
  check(fi_av_open(domain, &(struct fi_av_attr){.type = FI_AV_TABLE}, &addresses, NULL), "fi_av_open");
  check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
  check(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_enable(endpoint), "fi_enable");
  check(fi_getname(&endpoint->fid, name, &length), "fi_getname");
  check(write_footprint(argv[1]), "write_footprint");
  fi_close(&endpoint->fid);
  fi_close(&addresses->fid);
  fi_close(&completions->fid);
  fi_close(&domain->fid);
  fi_close(&fabric->fid);
  fi_freeinfo(info);
  fi_freeinfo(hints);
}
