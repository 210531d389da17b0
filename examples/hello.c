/* SPDX-License-Identifier: Apache-2.0
 * Every rank gives its number; all of them get the sum. */
#include <stdio.h>
#include <weft.h>

int main(int argc, char** argv) {
  weft_runtime* runtime;
  weft_comm* world;
  int sum;
  if (weft_init(&argc, argv, &runtime) || weft_world(runtime, &world) ||
      weft_allreduce(world, &(int){weft_rank(world)}, &sum, 1, WEFT_INT, WEFT_SUM)) {
    fprintf(stderr, "%s\n", weft_error_text());
    return 1;
  }
  printf("rank %d of %d: the numbers add up to %d\n", weft_rank(world), weft_size(world), sum);
  return weft_finalize(runtime);
}
