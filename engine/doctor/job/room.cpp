#include "engine/doctor/job/room.h"

namespace shardlab {
namespace {

constexpr double k_tight = 0.95;  // of the limit

}  // namespace

Bytes need_of(const RunSummary& run) {
  if (!run.memory) return {};
  return run.memory->peak_device.value_or(run.memory->peak_allocated);
}

std::optional<Bytes> shortage_of(const RunSummary& run) {
  if (run.fits != Fit::no || !run.memory_limit || need_of(run) <= *run.memory_limit) return std::nullopt;
  return need_of(run) - *run.memory_limit;
}

bool steps_do_not_fit(const RunSummary& run) {
  return run.fits == Fit::no && (!run.fit_probability || *run.fit_probability <= k_unlikely_to_run);
}

Room room_of(const RunSummary& run) {
  if (!run.fits || !run.memory || !run.memory_limit) return Room::ample;
  if (run.fits == Fit::no) return Room::none;
  const bool near =
      static_cast<double>(need_of(run).value) > k_tight * static_cast<double>(run.memory_limit->value);
  return run.fits == Fit::unsure || near ? Room::tight : Room::ample;
}

}  // namespace shardlab
