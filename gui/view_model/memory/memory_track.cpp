#include "gui/view_model/memory/memory_track.h"

#include <algorithm>
#include <array>

#include "engine/formats/profiler/import_profile.h"

namespace shardlab::view {
namespace {

// What lives across steps first, then what lives through forward and backward, then the short-lived.
constexpr std::array k_stacking = {BufferClass::parameter,
                                   BufferClass::parameter_shard,
                                   BufferClass::optimizer_state,
                                   BufferClass::gradient_shard,
                                   BufferClass::constant,
                                   BufferClass::scalar,
                                   BufferClass::batch,
                                   BufferClass::gradient,
                                   BufferClass::activation,
                                   BufferClass::activation_gradient,
                                   BufferClass::gathered_parameters,
                                   BufferClass::gather_buffer,
                                   BufferClass::reduce_buffer,
                                   BufferClass::workspace};
static_assert(k_stacking.size() == k_buffer_classes);

std::vector<BufferClass> present_classes(const std::vector<MemorySample>& samples) {
  std::array<bool, k_buffer_classes> present{};
  for (const MemorySample& sample : samples) {
    for (std::size_t i = 0; i < k_buffer_classes; ++i)
      present[i] = present[i] || sample.by_class[i].value > 0 || sample.by_class_at_peak[i].value > 0;
  }
  std::vector<BufferClass> classes;
  for (const BufferClass each : k_stacking) {
    if (present[static_cast<std::size_t>(each)]) classes.push_back(each);
  }
  return classes;
}

std::vector<MemorySpace> other_spaces(const std::vector<MemorySample>& samples) {
  std::vector<MemorySpace> spaces;
  for (std::size_t i = 0; i < k_memory_spaces; ++i) {
    const auto holds = [i](const MemorySample& sample) { return sample.peak_elsewhere[i].value > 0; };
    if (std::any_of(samples.begin(), samples.end(), holds)) spaces.push_back(static_cast<MemorySpace>(i));
  }
  return spaces;
}

// Whether the device's clock has a time for it: what other streams do, or the host alone, happens between
// compute.
bool on_device_clock(const StepPlan& plan, const Span& span) {
  const Instruction& instruction = plan.instruction(span.instruction);
  return instruction.stream == StreamId{0} && !is_host_only(instruction.kind) && !span.skipped;
}

void resize(StackedMemory& stacked, const MemoryTrack& track, std::size_t columns) {
  stacked.times.resize(columns);
  stacked.samples.resize(columns);
  stacked.tops.resize(std::max<std::size_t>(track.classes.size(), 1));
  for (std::vector<double>& top : stacked.tops) top.resize(columns);
  stacked.others.resize(track.others.size());
  for (std::vector<double>& other : stacked.others) other.resize(columns);
}

double elsewhere(const MemoryTrack& track, std::size_t other, std::size_t sample) {
  const auto space = static_cast<std::size_t>(track.others[other]);
  return static_cast<double>(track.samples[sample].peak_elsewhere[space].value);
}

}  // namespace

MemoryTrack make_memory_track(std::string title, RunKind kind, const StepPlan& plan, const RankTrace& rank,
                              std::optional<Bytes> capacity, MemoryClock clock) {
  MemoryTrack track{std::move(title), kind, {}, {}, {}, {}, {}, {}, capacity, {}, {}};
  for (const Span& span : rank.spans) track.end = std::max(track.end, span.end);
  Nanoseconds reached, compute_end;  // by the sample before
  auto span = rank.spans.begin();
  for (const MemorySample& sample : rank.memory) {
    while (span != rank.spans.end() && span->instruction < sample.instruction) ++span;
    if (span == rank.spans.end()) break;
    if (span->instruction != sample.instruction) continue;
    // In issue order; compute that is under way is over before what was issued after it counts.
    const bool own_time = clock == MemoryClock::device && on_device_clock(plan, *span);
    const Nanoseconds time = clock == MemoryClock::host ? span->issue : own_time ? span->start : compute_end;
    reached = std::max(reached, time);
    if (own_time) compute_end = std::max(compute_end, span->end);
    track.samples.push_back(sample);
    track.times.push_back(reached);
    track.peaks.push_back(sample.peak.value);
  }
  track.classes = present_classes(track.samples);
  track.others = other_spaces(track.samples);
  if (!track.peaks.empty())
    track.peak = static_cast<std::size_t>(std::max_element(track.peaks.begin(), track.peaks.end()) -
                                          track.peaks.begin());
  return track;
}

bool begins_unknown(const Provenance& provenance) {
  const std::vector<std::string>& out = provenance.leaves_out;
  return std::find(out.begin(), out.end(), k_memory_before) != out.end();
}

Bytes highest_in(const MemoryTrack& track, MemorySpace space) {
  Bytes most;
  for (const MemorySample& sample : track.samples)
    most = std::max(most, sample.peak_elsewhere[static_cast<std::size_t>(space)]);
  return most;
}

std::optional<std::size_t> sample_at(const MemoryTrack& track, double time) {
  const auto after = std::partition_point(track.times.begin(), track.times.end(), [time](Nanoseconds each) {
    return static_cast<double>(each.value) <= time;
  });
  if (after == track.times.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - track.times.begin()) - 1;
}

void stack_memory(const MemoryTrack& track, const TimeScale& scale, double pixels_per_column,
                  StackedMemory& stacked) {
  const double step = scale.span_of(std::max(pixels_per_column, 0.25));
  const double from =
      track.times.empty() ? scale.to : std::max(scale.from, static_cast<double>(track.times.front().value));
  const double to = std::min(scale.to, static_cast<double>(track.end.value));
  const auto columns = to > from ? static_cast<std::size_t>((to - from) / step) + 1 : std::size_t{0};
  resize(stacked, track, columns);
  if (columns == 0) return;
  std::size_t current = *sample_at(track, from);
  for (std::size_t column = 0; column < columns; ++column) {
    const double begin = from + static_cast<double>(column) * step, end = begin + step;
    std::size_t highest = current;
    for (std::size_t i = 0; i < track.others.size(); ++i)
      stacked.others[i][column] = elsewhere(track, i, current);
    while (current + 1 < track.times.size() && static_cast<double>(track.times[current + 1].value) < end) {
      ++current;
      if (track.peaks[current] > track.peaks[highest]) highest = current;
      for (std::size_t i = 0; i < track.others.size(); ++i)
        stacked.others[i][column] = std::max(stacked.others[i][column], elsewhere(track, i, current));
    }
    stacked.times[column] = begin;
    stacked.samples[column] = static_cast<std::uint32_t>(highest);
    if (track.classes.empty()) stacked.tops.front()[column] = static_cast<double>(track.peaks[highest]);
    double top = 0;
    for (std::size_t i = 0; i < track.classes.size(); ++i) {
      const auto index = static_cast<std::size_t>(track.classes[i]);
      stacked.tops[i][column] = top +=
          static_cast<double>(track.samples[highest].by_class_at_peak[index].value);
    }
  }
}

}  // namespace shardlab::view
