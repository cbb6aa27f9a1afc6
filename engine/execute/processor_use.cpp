#include "engine/execute/processor_use.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/execute/machine.h"

namespace shardlab {
namespace {

struct Ticks {
  std::int64_t busy = 0;
  std::int64_t all = 0;
};

// Absent for lines that are no processor's: "cpu" alone is the sum, the others are other counters.
std::optional<std::pair<int, Ticks>> processor_line(const std::string& line) {
  if (!line.starts_with("cpu") || line.size() < 4 || line[3] < '0' || line[3] > '9') return std::nullopt;
  std::istringstream words(line.substr(3));
  int processor = 0;
  std::array<std::int64_t, 8> times{};  // up to steal; guest time is part of user time
  words >> processor;
  for (std::int64_t& time : times)
    if (!(words >> time)) return std::nullopt;
  constexpr std::size_t k_idle = 3, k_waiting = 4;
  Ticks ticks;
  for (std::size_t i = 0; i < times.size(); ++i) {
    ticks.all += times[i];
    if (i != k_idle && i != k_waiting) ticks.busy += times[i];
  }
  return std::pair(processor, ticks);
}

std::vector<int> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> usable;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return usable;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) usable.push_back(i);
  return usable;
}

Nanoseconds time_of(const timeval& time) {
  return microseconds(static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec);
}

}  // namespace

std::optional<Nanoseconds> busy_time(std::string_view stat, std::span<const int> processors,
                                     std::int64_t ticks_per_second) {
  std::map<int, Ticks> known;
  std::istringstream lines{std::string(stat)};
  for (std::string line; std::getline(lines, line);)
    if (const auto found = processor_line(line)) known.insert(*found);
  Ticks sum;
  for (const int processor : processors) {
    const auto found = known.find(processor);
    if (found == known.end()) return std::nullopt;
    sum.busy += found->second.busy;
    sum.all += found->second.all;
  }
  if (sum.all == 0 || ticks_per_second <= 0) return std::nullopt;
  return Nanoseconds{1'000'000'000 / ticks_per_second} * sum.busy;
}

Nanoseconds own_processor_time() {
  Nanoseconds sum;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    if (::getrusage(who, &used) == 0) sum += time_of(used.ru_utime) + time_of(used.ru_stime);
  }
  return sum;
}

std::optional<ProcessorUse> use_between(const ProcessorTimes& before, const ProcessorTimes& after) {
  const auto passed = static_cast<double>((after.at - before.at).value);
  if (passed <= 0 || after.processors <= 0 || before.processors != after.processors) return std::nullopt;
  const double own = static_cast<double>((after.own - before.own).value) / passed;
  const double busy = static_cast<double>((after.busy - before.busy).value) / passed;
  return ProcessorUse{after.processors, own, std::clamp(busy - own, 0.0, 1.0 * after.processors)};
}

std::optional<ProcessorTimes> processor_times() {
  const std::vector<int> processors = usable_processors();
  std::ifstream stream("/proc/stat");
  std::ostringstream text;
  text << stream.rdbuf();
  const auto busy = busy_time(text.str(), processors, ::sysconf(_SC_CLK_TCK));
  if (!busy) return std::nullopt;
  return ProcessorTimes{static_cast<int>(processors.size()), *busy, own_processor_time(), monotonic_now()};
}

}  // namespace shardlab
