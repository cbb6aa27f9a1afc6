// What other libraries do with the C library that is theirs to answer for.
#include "tests/faults/counted_call.h"

// cpuinfo, in torch 2.11's libc10, looks at /sys/devices/system/cpu twice, and ends with a segmentation fault
// where the second look fails after a first that did not.
COUNTED(bool, cpuinfo_initialize, ()) {
  const shardlab::faults::Uncounted uncounted;
  CALL_LIBRARY(cpuinfo_initialize);
}
