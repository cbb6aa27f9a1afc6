// How much of this machine's processors a run had, and how much other programs took meanwhile.
//
// Source: proc_stat(5), the lines "cpuN": user, nice, system, idle, iowait, irq, softirq and steal time since
// boot; getrusage(2) for this process and the children that it has waited for.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/base/units.h"

namespace shardlab {

// Clocks that only run forward; two readings of them enclose a run.
struct ProcessorTimes {
  int processors = 0;  // that this process may use; the others are not counted
  Nanoseconds busy;    // of them: work of all programs, and what a hypervisor gave to other machines
  Nanoseconds own;     // of this process and its ended children
  Nanoseconds at;
};

// Averages over a time, in processors.
struct ProcessorUse {
  int processors = 0;
  double own = 0;
  double others = 0;

  double share_of_others() const { return others / processors; }
};

// The busy time that the text of /proc/stat gives for these processors; absent where it lacks one of them or
// shows no time at all, as in some sandboxes.
std::optional<Nanoseconds> busy_time(std::string_view stat, std::span<const int> processors,
                                     std::int64_t ticks_per_second);

// Absent when no time passed between the readings or when they are of different processors.
std::optional<ProcessorUse> use_between(const ProcessorTimes& before, const ProcessorTimes& after);

// The `own` of ProcessorTimes by itself, now.
Nanoseconds own_processor_time();

// Now, on this machine; absent where its processors cannot be read.
std::optional<ProcessorTimes> processor_times();

}  // namespace shardlab
