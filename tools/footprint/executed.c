/* SPDX-License-Identifier: Apache-2.0 */
/* Executes PROGRAM with the time of that, by the monotonic clock in ns, in the variable FOOTPRINT_EXECUTED.
     executed PROGRAM [ARGUMENTS...] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char text[32];
  struct timespec now;
  if (argc < 2) return 2;
  clock_gettime(CLOCK_MONOTONIC, &now);
  snprintf(text, sizeof text, "%lld", now.tv_sec * 1000000000LL + now.tv_nsec);
  setenv("FOOTPRINT_EXECUTED", text, 1);
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
