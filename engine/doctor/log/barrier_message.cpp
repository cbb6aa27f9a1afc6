#include "engine/doctor/log/barrier_message.h"

#include "engine/base/text/log_numbers.h"

namespace shardlab {

std::optional<WaitingBarrier> read_barrier_message(std::string_view line) {
  if (line.find("waiting in store based barrier") == std::string_view::npos) return std::nullopt;
  const auto world = integer_after(line, "world_size");
  const auto arrived = integer_after(line, "worker_count");
  if (!world || !arrived) return std::nullopt;
  return WaitingBarrier{{}, *world, *arrived};
}

bool passes_barrier(std::string_view line) {
  return line.find("completed store-based barrier") != std::string_view::npos;
}

}  // namespace shardlab
