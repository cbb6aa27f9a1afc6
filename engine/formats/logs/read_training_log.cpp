#include "engine/formats/logs/read_training_log.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/base/input_file.h"
#include "engine/base/text/log_lines.h"
#include "engine/base/text/rank_prefix.h"
#include "engine/formats/logs/deepspeed_lines.h"
#include "engine/formats/logs/log_collector.h"
#include "engine/formats/logs/log_files.h"
#include "engine/formats/logs/progress_bar.h"
#include "engine/formats/logs/torchtitan_lines.h"
#include "engine/formats/logs/trainer_lines.h"
#include "engine/formats/logs/trainer_state.h"

namespace shardlab {
namespace {

constexpr std::size_t k_piece = 1 << 20;
constexpr FileKind k_beginning{"log", 256 << 10};
constexpr std::string_view k_knows =
    "it knows lines of steps of transformers' Trainer, DeepSpeed (steps_per_print, wall_clock_breakdown) and "
    "torchtitan; `shardlab doctor` says why a job failed";

// The figures of a line as they stand in it. A bar and what was printed beside it may share one.
template <typename Take>
void visit_figures_of_line(std::string_view raw, std::string& scratch, const Take& take) {
  const std::string_view line = without_escapes(raw, scratch);
  const RankedLine ranked = rank_of_line(line);
  if (const auto bar = progress_figures(line)) take(*bar, ranked.rank);
  for (const auto& read : {trainer_figures, deepspeed_figures, torchtitan_figures}) {
    if (const auto figures = read(line)) {
      take(*figures, ranked.rank);
      return;
    }
  }
}

// Hands the figures of all lines on until `enough`. Errors of reading the file.
Status read_lines(const std::filesystem::path& file, LogCollector& log, bool (*enough)(const LogCollector&)) {
  SHARDLAB_TRY(const InputFile input, InputFile::open(file, "log"));
  if (input.size() == 0) return bad_input(in_file(file.string()), "is empty");
  std::string scratch, piece(k_piece, '\0');
  LineCutter cutter([&](std::int64_t, std::string_view text) {
    visit_figures_of_line(
        text, scratch, [&](const LineFigures& figures, std::optional<int> rank) { log.take(figures, rank); });
  });
  while (!enough(log)) {
    skip_hole(input);
    SHARDLAB_TRY(const std::size_t read, read_piece(input, piece, in_file(file.string())));
    if (read == 0) break;
    cutter.feed(std::string_view(piece).substr(0, read));
  }
  cutter.finish();
  return {};
}

// Whether it begins as JSON does: a log may begin with `[2025-06-16` or `{'loss'` as well.
bool begins_json(std::string_view text) {
  constexpr std::string_view k_spaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(k_spaces);
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const std::size_t second = text.find_first_not_of(k_spaces, first + 1);
  if (second == std::string_view::npos) return true;
  return std::string_view(text[first] == '{' ? "\"}" : "{]").find(text[second]) != std::string_view::npos;
}

tl::unexpected<Error> no_step_in(const std::filesystem::path& file) {
  return bad_input(in_file(file.string()), "has no line of a training step", std::string(k_knows));
}

bool is_trainer_state(const std::filesystem::path& file) {
  return begins_trainer_state(read_beginning(file, k_beginning).value_or(""));
}

}  // namespace

bool is_training_log(const std::filesystem::path& file) {
  const std::string beginning = read_beginning(file, k_beginning).value_or("");
  if (begins_trainer_state(beginning)) return true;
  if (beginning.empty() || beginning.starts_with("\x1f\x8b") || begins_json(beginning)) return false;
  LogCollector log;
  const Status read = read_lines(file, log, [](const LogCollector& so_far) { return so_far.has_steps(); });
  return read && log.has_steps();
}

bool is_meant_as_log(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 4> k_endings = {".log", ".out", ".err", ".txt"};
  const std::string ending = file.extension().string();
  return std::find(k_endings.begin(), k_endings.end(), ending) != k_endings.end();
}

Result<TrainingLog> read_training_log(const std::filesystem::path& file,
                                      std::optional<std::int64_t> samples_per_step) {
  LogCollector log(samples_per_step);
  if (is_trainer_state(file)) {
    SHARDLAB_CHECK_OK(read_trainer_state(file, log));
    return log.finish();
  }
  SHARDLAB_CHECK_OK(read_lines(file, log, [](const LogCollector&) { return false; }));
  if (!log.has_steps()) return no_step_in(file);
  return log.finish();
}

Result<TrainingLog> read_training_logs(std::span<const std::filesystem::path> files,
                                       std::optional<std::int64_t> samples_per_step) {
  if (files.size() == 1) return read_training_log(files.front(), samples_per_step);
  for (const std::filesystem::path& file : files) {
    if (is_trainer_state(file))
      return bad_input(in_file(file.string()), "tells the whole training, with all starts before it",
                       "import the trainer_state.json of the last checkpoint alone");
  }
  SHARDLAB_TRY(const LogFiles parts, log_files(files, read_training_log));
  LogCollector log(samples_per_step);
  for (const LogPart& part : parts.in_order) {
    log.begin_file(part.rank, part.writer);
    SHARDLAB_CHECK_OK(read_lines(part.file, log, [](const LogCollector&) { return false; }));
  }
  if (!log.has_steps()) return no_step_in(files.front());
  TrainingLog all = log.finish();
  all.read_as = parts.read_as;
  return all;
}

}  // namespace shardlab
