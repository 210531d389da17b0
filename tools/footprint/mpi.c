/* SPDX-License-Identifier: Apache-2.0 */
/* All ranks add one double up; then each writes its footprint into FOLDER.
     mpi FOLDER */
#include <mpi.h>

#include "self.h"

int main(int argc, char** argv) {
  int size;
  double sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&(double){1}, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size || write_footprint(argv[1]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
}
