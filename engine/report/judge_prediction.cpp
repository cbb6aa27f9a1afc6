#include "engine/report/judge_prediction.h"

#include <fmt/format.h>

#include "engine/base/with_spaces.h"
#include "engine/report/figures.h"

namespace shardlab {
namespace {

// What is less likely than this and likelier than k_unlikely_to_run is unsure.
constexpr double k_sure = 0.9;

// What libraries hold beside the tensors of a phase, workspaces among them, and by how much that may be more.
struct Libraries {
  Bytes on_device, device_margin, host_margin;
};

Libraries libraries_of(const std::vector<MemoryOverhead>& overheads) {
  Libraries sum;
  for (const MemoryOverhead& each : overheads) {
    const bool on_host = each.where == OverheadPlace::host;
    (on_host ? sum.host_margin : sum.device_margin) += each.high - each.bytes;
    if (!on_host) sum.on_device += each.bytes;
  }
  return sum;
}

std::string steps_text(const DeviceMemory& memory, Bytes margin, Bytes limit) {
  if (memory.out_of_memory > 0)
    return fmt::format(
        "the steps reserve up to {} on a device of {}; even giving memory back an allocation fails",
        to_string(memory.device_peak), to_string(limit));
  if (memory.retries > 0)
    return fmt::format("{} only after the allocator gave memory back", counted(memory.retries, "allocation"));
  const std::string taken =
      fmt::format("the steps take {} of the device's {}", to_string(memory.device_peak), to_string(limit));
  if (memory.device_peak > limit || memory.device_peak + margin <= limit) return taken;
  return fmt::format("{}, and libraries may take {} more", taken, to_string(margin));
}

// A run whose allocator has to give memory back and ask again, or will where libraries take as much as they
// may, is at the edge, however likely it is.
FitVerdict judge_steps(const RunTrace& run, Bytes margin, Bytes limit) {
  const DeviceMemory& memory = *run.device_memory;
  FitVerdict verdict;
  const bool runs = memory.out_of_memory == 0 && memory.device_peak <= limit;
  verdict.probability = run.fit ? run.fit->probability : runs;
  const bool at_edge = memory.retries > 0 || memory.out_of_memory > 0 || memory.device_peak + margin > limit;
  if (verdict.probability <= k_unlikely_to_run)
    verdict.fit = Fit::no;
  else if (verdict.probability < k_sure || at_edge)
    verdict.fit = Fit::unsure;
  if (verdict.fit != Fit::yes) verdict.reason = steps_text(memory, margin, limit);
  return verdict;
}

struct PhaseVerdict {
  Fit fit = Fit::yes;
  std::string reason;  // empty where it fits
};

PhaseVerdict judge(LifePhase phase, Bytes bytes, Bytes margin, Bytes limit, std::string_view whose) {
  const Fit fit = judge_fit(bytes, margin, limit);
  if (fit == Fit::yes) return {};
  std::string reason = fmt::format("{} takes {} of {}", with_spaces(to_string(phase)), to_string(bytes),
                                   fmt::format(fmt::runtime(whose), to_string(limit)));
  if (fit == Fit::unsure) reason += fmt::format(", and libraries may take {} more", to_string(margin));
  return {fit, std::move(reason)};
}

// A phase that the job has, host memory first. The steps on the device are judged by the allocator.
PhaseVerdict judge_phase(const PhaseMemory& phase, const Libraries& libraries, const FitLimits& limits) {
  if (!phase.asked) return {};
  PhaseVerdict host;
  if (limits.host)
    host = judge(phase.phase, phase.host, libraries.host_margin, *limits.host, "a node's {} of host memory");
  const bool is_step = phase.phase == LifePhase::first_step || phase.phase == LifePhase::steady;
  if (is_step || host.fit == Fit::no) return host;
  PhaseVerdict device = judge(phase.phase, phase.device + libraries.on_device, libraries.device_margin,
                              limits.device, "the device's {}");
  return device.fit > host.fit ? device : host;
}

}  // namespace

Bytes margin_of(const std::vector<MemoryOverhead>& overheads) {
  return libraries_of(overheads).device_margin;
}

FitVerdict judge_prediction(const RunTrace& predicted, const FitLimits& limits) {
  const Libraries libraries = libraries_of(predicted.overheads);
  FitVerdict verdict = judge_steps(predicted, libraries.device_margin, limits.device);
  for (const PhaseMemory& phase : predicted.life) {
    PhaseVerdict its = judge_phase(phase, libraries, limits);
    if (its.fit <= verdict.fit) continue;
    verdict.fit = its.fit;
    verdict.reason = std::move(its.reason);
  }
  return verdict;
}

}  // namespace shardlab
