/* SPDX-License-Identifier: Apache-2.0 */
/* What a process says of itself once its first all-reduce is done, for tools/footprint_table.py. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How many files the folder has, of those of /proc that are numbers. */
static inline int count_entries(const char* folder) {
  int count = 0;
  DIR* const open_folder = opendir(folder);
  if (open_folder == NULL) return -1;
  for (const struct dirent* each; (each = readdir(open_folder)) != NULL;) count += each->d_name[0] != '.';
  closedir(open_folder);
  return count;
}

static inline long long nanoseconds(const struct timespec* time) { return time->tv_sec * 1000000000LL + time->tv_nsec; }

/* Writes a file of the process's own into `folder`: when it was executed and when this was called, by the monotonic
   clock in ns, the processor time it took, its descriptors and threads, and its smaps. System calls are counted up to
   here by what only this asks for. Returns 0, or 1 where it cannot. */
static inline int write_footprint(const char* folder) {
  struct timespec now, processor;
  clock_gettime(CLOCK_MONOTONIC, &now);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor);
  if (access("/first all-reduce done", F_OK) == 0) return 1;
  const int descriptors = count_entries("/proc/self/fd") - 1; /* without the one that reads them */
  const int threads = count_entries("/proc/self/task");
  char text[4096];
  snprintf(text, sizeof text, "%s/%d", folder, getpid());
  const int to = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int from = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  const char* const executed = getenv("FOOTPRINT_EXECUTED");
  if (to < 0 || from < 0) return 1;
  dprintf(to, "executed %s\ndone %lld\nprocessor %lld\ndescriptors %d\nthreads %d\n", executed ? executed : "0",
          nanoseconds(&now), nanoseconds(&processor), descriptors, threads);
  ssize_t bytes;
  while ((bytes = read(from, text, sizeof text)) > 0)
    if (write(to, text, (size_t)bytes) != bytes) return 1;
  close(from);
  close(to);
  return bytes != 0;
}
