// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "jobs.hpp"

int main(int argc, char** argv) {
  using namespace weft_test;
  static constexpr struct {
    const char* name;
    int (*function)(int, char**);
  } known[] = {{"survive", survive},     {"exchange", exchange}, {"compute", compute}, {"give_up", give_up},
               {"move_much", move_much}, {"meet", meet},         {"away", away},       {"persist", persist},
               {"near", near},           {"unread", unread},     {"hold", hold},       {"notice", notice},
               {"whole_api", whole_api}, {"line", line},         {"calls", calls},     {"beset", beset},
               {"soak", soak},           {"abuse", abuse},       {"windows", windows}};
  for (const auto& each : known)
    if (argc > 1 && std::strcmp(argv[1], each.name) == 0) return each.function(argc, argv);
  std::fprintf(stderr, "there is no such job\n");
  return 99;
}
