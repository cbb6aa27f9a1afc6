#include "engine/formats/logs/log_collector.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/formats/logs/line_numbers.h"
#include "engine/formats/logs/steady_times.h"

namespace shardlab {
namespace {

constexpr int k_nobody = -1;             // and the numbers below it: nobody with a name, of another file
constexpr std::size_t k_most_bars = 64;  // of different lengths

std::string_view program_of(LineKind kind) {
  switch (kind) {
    case LineKind::trainer_figures: return "transformers";
    case LineKind::deepspeed_step:
    case LineKind::deepspeed_speed:
    case LineKind::deepspeed_times: return "DeepSpeed";
    case LineKind::torchtitan_step: return "torchtitan";
    case LineKind::progress_bar:
    case LineKind::other: return "";
  }
  return "";
}

template <typename T>
void replace(std::optional<T>& known, const std::optional<T>& value) {
  if (value) known = value;
}

void raise(std::optional<LoggedPeak>& peak, const std::optional<Bytes>& bytes, std::optional<int> rank,
           std::int64_t step) {
  if (bytes && bytes->value > 0 && (!peak || *bytes > peak->bytes)) peak = LoggedPeak{*bytes, rank, step};
}

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

bool longer(const StepTrack& a, const StepTrack& b) {
  return std::pair(a.times().size(), a.last_step()) > std::pair(b.times().size(), b.last_step());
}

}  // namespace

LogCollector::LogCollector(std::optional<std::int64_t> samples_per_step) {
  log_.samples_per_step = samples_per_step;
}

void LogCollector::begin_file(std::optional<int> rank, int writer) {
  for (const LineFigures& line : unnumbered_.finish()) numbered_later_.push_back(line);
  unnumbered_ = {};
  if (writer != writer_) next_ = 1;
  rank_ = rank;
  writer_ = writer;
}

void LogCollector::take(LineFigures figures, std::optional<int> rank) {
  if (!rank) rank = rank_;
  const int owner = rank.value_or(k_nobody - writer_);
  if (const std::string_view program = program_of(figures.kind);
      !program.empty() &&
      std::find(log_.programs.begin(), log_.programs.end(), program) == log_.programs.end())
    log_.programs.push_back(program);
  number(figures);
  take_facts(figures, rank);
  if (figures.kind == LineKind::other) return;
  if (figures.kind == LineKind::progress_bar) return take_bar(figures, owner);
  has_steps_ = true;
  if (figures.runtime)
    whole_.push_back(figures);
  else if (figures.kind == LineKind::trainer_figures && !figures.step)
    unnumbered_.take(figures);
  else
    take_step(figures, owner);
}

void LogCollector::take_step(const LineFigures& figures, int owner) {
  if (figures.step) tracks_[static_cast<std::size_t>(figures.kind)].take(owner, figures);
  take_value(log_.losses, figures.loss, figures);
  take_value(log_.gradient_norms, figures.gradient_norm, figures);
  take_speed(figures);
}

// Which step a line without one is of: DeepSpeed's timers follow the line that numbers their step.
void LogCollector::number(LineFigures& figures) {
  if (figures.kind == LineKind::deepspeed_times && !figures.step) {
    figures.step = next_++;
  } else if (figures.step &&
             (figures.kind == LineKind::deepspeed_step || figures.kind == LineKind::deepspeed_speed)) {
    next_ = std::max<std::int64_t>(*figures.step, 1);  // step 0 is before the first
  }
  if (figures.kind != LineKind::progress_bar && figures.step) now_ = *figures.step;
  if (figures.kind == LineKind::deepspeed_speed && figures.samples_per_second && log_.samples_per_step)
    figures.time = seconds(static_cast<double>(*log_.samples_per_step) / *figures.samples_per_second);
}

void LogCollector::take_bar(const LineFigures& figures, int owner) {
  if (bars_.size() >= k_most_bars && !bars_.contains(*figures.of)) return;
  unnumbered_.number(*figures.step);
  bars_[*figures.of].take(owner, figures);
}

// Where a step ran again, or several ranks tell it, the later one counts.
void LogCollector::take_value(LoggedValues& values, std::optional<double> value, const LineFigures& figures) {
  if (!value) return;
  if (figures.step) log_.knows_steps = true;
  values[figures.step.value_or(static_cast<std::int64_t>(values.size()) + 1)] = *value;
}

void LogCollector::take_speed(const LineFigures& figures) {
  if (figures.tokens_per_second_of_rank && figures.step)
    speeds_.push_back({*figures.step, *figures.tokens_per_second_of_rank, figures.utilization.value_or(-1)});
}

void LogCollector::take_facts(const LineFigures& figures, std::optional<int> rank) {
  if (rank) log_.ranks.insert(*rank);
  raise(log_.peak_allocated, figures.peak_allocated, rank, now_);
  raise(log_.peak_reserved, figures.peak_reserved, rank, now_);
  if (log_.peak_reserved && figures.peak_reserved == log_.peak_reserved->bytes)
    log_.is_reserved_rounded = figures.is_whole_gibibytes;
  if (figures.host_memory)
    log_.host_memory = std::max(log_.host_memory.value_or(Bytes{}), *figures.host_memory);
  replace(log_.world_size, figures.ranks);
  replace(log_.samples_per_step, figures.samples_per_step);
  replace(log_.skipped_steps, figures.skipped);
  replace(log_.device_memory, figures.device_memory);
  if (figures.device) log_.device = *figures.device;
  if (figures.tokens_per_second) log_.tokens_per_second = figures.tokens_per_second;
}

// The last of all kinds of lines that tells times; among bars that which ran longest, as evaluations have
// their own.
void LogCollector::choose_times() {
  const StepTrack* bar = nullptr;
  for (const auto& [steps, track] : bars_)
    if (bar == nullptr || longer(track, *bar)) bar = &track;
  for (std::size_t kind = tracks_.size(); kind-- > 0;) {
    const bool is_bar = static_cast<LineKind>(kind) == LineKind::progress_bar;
    if (is_bar && bar == nullptr) continue;
    const StepTrack& track = is_bar ? *bar : tracks_[kind];
    if (!is_bar) log_.starts = std::max(log_.starts, track.starts());
    log_.last_step = std::max(log_.last_step, track.last_step());
    if (track.times().empty() || !log_.times.empty()) continue;
    if (is_bar) log_.starts = std::max(log_.starts, track.starts());
    log_.times = track.times();
    log_.times_from = to_string(static_cast<LineKind>(kind));
  }
}

// The seconds of the whole training, by its steps. A training that went on from a checkpoint ran fewer than
// it numbers: the Trainer's own rate says how many.
void LogCollector::take_whole_mean() {
  if (whole_.empty()) return;
  const LineFigures& last = whole_.back();
  std::int64_t steps = last.step.value_or(log_.last_step);
  const double by_rate = last.steps_per_second.value_or(0) * static_cast<double>(last.runtime->value) / 1e9;
  constexpr double k_clearly = 0.9;
  if (steps == 0 || (by_rate >= 1 && by_rate < k_clearly * static_cast<double>(steps)))
    steps = saturated_round(by_rate);
  if (steps <= 0 || last.runtime->value <= 0) return;
  log_.times = {{0, steps, *last.runtime / steps, 0}};
  log_.times_from = "the seconds of the whole training";
}

// The middle over the steps whose times count, where they are known.
void LogCollector::take_middle_speed() {
  std::set<std::int64_t> counted;
  for (const TimedSteps& time : steady_times(log_.times).times) counted.insert(time.last);
  std::vector<double> tokens, utilization;
  for (const Speed& speed : speeds_) {
    if (!counted.empty() && !counted.contains(speed.step)) continue;
    tokens.push_back(speed.tokens);
    if (speed.utilization >= 0) utilization.push_back(speed.utilization);
  }
  if (!tokens.empty()) log_.tokens_per_second_of_rank = middle(std::move(tokens));
  if (!utilization.empty()) log_.utilization = middle(std::move(utilization));
}

TrainingLog LogCollector::finish() {
  const bool others_number = log_.knows_steps;
  begin_file({}, writer_);
  for (const LineFigures& line : numbered_later_)
    if (line.step || !others_number) take_step(line, k_nobody);
  choose_times();
  const SteadyTimes steady = steady_times(log_.times);
  if (steady.times.empty() || steady.hold_first) take_whole_mean();
  take_middle_speed();
  return std::move(log_);
}

}  // namespace shardlab
