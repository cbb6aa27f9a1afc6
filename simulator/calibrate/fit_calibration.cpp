#include "simulator/calibrate/fit_calibration.h"

#include <algorithm>
#include <utility>

#include "simulator/calibrate/fit_probe.h"
#include "simulator/calibrate/least_squares.h"

namespace shardlab {
namespace {

std::vector<ProbeResult> put_together(std::span<const ProbeMeasurement> measurements) {
  std::map<std::pair<std::string, ProbeShape>, std::vector<std::int64_t>> samples;
  for (const ProbeMeasurement& m : measurements) {
    auto& all = samples[{m.probe, m.shape}];
    all.insert(all.end(), m.samples.begin(), m.samples.end());
  }
  std::vector<ProbeResult> results;
  for (auto& [key, values] : samples) {
    const double median = median_of({values.begin(), values.end()});
    if (median > 0) results.push_back({key.first, key.second, std::move(values), median, 0});
  }
  return results;
}

const ProbeResult* find(const Calibration& calibration, std::string_view probe) {
  for (const ProbeResult& result : calibration.probes) {
    if (result.probe == probe) return &result;
  }
  return nullptr;
}

// The four times of a repeat were taken one after the other, so they are compared repeat by repeat. While
// products ran, collectives did what they do alone in all their time less what was left of it afterwards.
void fit_contention(Calibration& calibration) {
  const ProbeResult* compute = find(calibration, "contention.compute_alone");
  const ProbeResult* collectives = find(calibration, "contention.collectives_alone");
  const ProbeResult* beside = find(calibration, "contention.compute_beside");
  const ProbeResult* both = find(calibration, "contention.both");
  if (compute == nullptr || collectives == nullptr || beside == nullptr || both == nullptr) return;
  const std::size_t repeats = std::min(
      {compute->samples.size(), collectives->samples.size(), beside->samples.size(), both->samples.size()});
  std::vector<double> compute_speeds, collective_speeds;
  for (std::size_t i = 0; i < repeats; ++i) {
    const auto together = static_cast<double>(beside->samples[i]);
    const auto left = static_cast<double>(both->samples[i] - beside->samples[i]);
    compute_speeds.push_back(static_cast<double>(compute->samples[i]) / together);
    collective_speeds.push_back((static_cast<double>(collectives->samples[i]) - left) / together);
  }
  const auto speed = [](std::vector<double> speeds) {
    return std::clamp(median_of(std::move(speeds)), 0.05, 1.0);
  };
  calibration.coefficients["contention.compute_beside_collective"] = {speed(std::move(compute_speeds)), "1"};
  calibration.coefficients["contention.collective_beside_compute"] = {speed(std::move(collective_speeds)),
                                                                      "1"};
}

// Times of the host that are the median of what was measured.
void fit_host(Calibration& calibration) {
  for (const char* name : {"host.instruction", "host.collective", "host.launch", "host.allocation"}) {
    if (const ProbeResult* result = find(calibration, name))
      calibration.coefficients[name] = {result->measured_ns, "ns"};
  }
}

}  // namespace

Calibration fit_calibration(std::span<const ProbeMeasurement> measurements, Calibration frame) {
  frame.coefficients.clear();
  frame.probes = put_together(measurements);
  for (std::size_t begin = 0; begin < frame.probes.size();) {
    std::size_t end = begin;
    while (end < frame.probes.size() && frame.probes[end].probe == frame.probes[begin].probe) ++end;
    fit_probe(frame, std::span(frame.probes).subspan(begin, end - begin));
    begin = end;
  }
  fit_contention(frame);
  fit_host(frame);
  frame.id = calibration_id(frame);
  return frame;
}

Calibration fit_again(const Calibration& calibration) {
  std::vector<ProbeMeasurement> measurements;
  for (const ProbeResult& probe : calibration.probes)
    measurements.push_back({probe.probe, probe.shape, probe.samples});
  return fit_calibration(measurements, calibration);
}

}  // namespace shardlab
