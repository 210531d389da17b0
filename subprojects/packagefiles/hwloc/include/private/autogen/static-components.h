/* SPDX-License-Identifier: Apache-2.0 */
/* What hwloc finds a machine by. */
#include <private/internal-components.h>

static const struct hwloc_component* hwloc_static_components[] = {
  &hwloc_noos_component,
  &hwloc_xml_component,
  &hwloc_synthetic_component,
  &hwloc_xml_nolibxml_component,
  &hwloc_linux_component,
#ifdef HWLOC_HAVE_X86_CPUID
  &hwloc_x86_component,
#endif
  NULL
};
