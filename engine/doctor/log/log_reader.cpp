#include "engine/doctor/log/log_reader.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/text/log_lines.h"
#include "engine/base/text/log_numbers.h"
#include "engine/base/text/rank_prefix.h"
#include "engine/doctor/log/barrier_message.h"
#include "engine/doctor/log/figure_tracks.h"
#include "engine/doctor/log/launcher_report.h"
#include "engine/doctor/log/likely_line.h"
#include "engine/doctor/log/sign_pattern.h"
#include "engine/doctor/log/traceback.h"
#include "engine/doctor/log/training_figures.h"

namespace shardlab {
namespace {

constexpr std::size_t k_kept_lines = 3;                // of each sign
constexpr std::size_t k_kept_allocations = 16;         // of the log
constexpr std::size_t k_most_collecting_ranks = 4096;  // whose collectives and reports are kept
constexpr std::size_t k_named_ranks = 64;              // of each sign
constexpr std::int64_t k_traceback_lines = 12;         // of what a destructor raises
// A sign that is this much surer than another one on the same line is what the line says.
constexpr int k_much_surer = 8;

// NUL is every other byte of a text in UTF-16; programs write backspaces, form feeds and escapes to
// terminals.
bool is_no_text(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 && value != 0 && (value < '\b' || value > '\r') && value != 0x1b;
}

void count_figure(std::optional<SeenMetric>& metric, const RawLine& raw, std::string name) {
  if (metric)
    ++metric->count;
  else
    metric = SeenMetric{seen(raw), std::move(name), 1};
}

}  // namespace

struct LogReader::State {
  explicit State(const SignIndex& signs)
      : index(signs), cutter([this](std::int64_t number, std::string_view text) { take(number, text); }) {}

  void take(std::int64_t number, std::string_view bytes);
  void find_signs(const RankedLine& ranked, std::string_view lower);
  std::size_t what_matters(std::string_view lower) const;
  void take_signs(const SeenLine& kept);
  void take_collective(const SeenLine& kept, std::string_view text);
  void take_numbers(const SeenLine& kept, std::string_view text, std::string_view lower);
  void take_figures(const RawLine& raw, std::string_view lower);
  void take_likely(const SeenLine& kept, std::string_view text, std::string_view lower);
  void take_traceback(const SeenLine& kept, std::string_view text, std::string_view lower);
  void take_open_traceback();
  void take_launcher();

  const SignIndex& index;
  LineCutter cutter;
  Tracebacks tracebacks;
  LogFacts facts;
  Likeliness likeliness = Likeliness::none;
  LauncherReport launcher;
  std::optional<SeenLine> open_traceback;                  // its last frame, until its exception is read
  std::int64_t exception_ignored_at = -k_traceback_lines;  // the line where Python says so
  std::map<int, SeenLine> first_reports;                   // by rank
  FigureTracks figures;
  // Scratch space.
  std::string plain;
  std::vector<std::uint32_t> found;
  std::vector<std::uint8_t> marks;
  std::vector<const IndexedSign*> hits;
};

void LogReader::State::take(std::int64_t number, std::string_view bytes) {
  const std::string_view line = without_escapes(bytes, plain);
  index.find(line, found, marks);
  if (found.empty() && !tracebacks.wants_next()) return;
  const RankedLine ranked = rank_of_line(line);
  const std::string lower = in_lower_case(line);
  tracebacks.take(ranked.rank, ranked.text, lower);
  if (found.empty()) return;
  take_figures({number, ranked.rank, line}, lower);
  if (index.are_figures(found)) return;
  find_signs(ranked, lower);
  const SeenLine kept{number, ranked.rank, readable_around(line, what_matters(lower))};
  take_traceback(kept, ranked.text, lower);
  if (launcher.take(kept, ranked.text)) return;
  take_signs(kept);
  take_numbers(kept, line, lower);
  if (hits.empty()) take_likely(kept, ranked.text, lower);
}

void LogReader::State::find_signs(const RankedLine& ranked, std::string_view lower) {
  hits.clear();
  const std::string_view text = without_spaces(lower.substr(lower.size() - ranked.text.size()));
  for (const std::uint32_t anchor : found) {
    for (const IndexedSign& sign : index.signs_of(anchor)) {
      if (!matches(sign, lower) || (sign.sign->whole_line && text != sign.anchor)) continue;
      if (sign.frame.empty() || tracebacks.has_frame(ranked.rank, sign.frame)) hits.push_back(&sign);
    }
  }
}

// Where in the line its surest sign stands; its beginning without one.
std::size_t LogReader::State::what_matters(std::string_view lower) const {
  const auto less_sure = [](const IndexedSign* a, const IndexedSign* b) {
    return a->sign->certainty < b->sign->certainty;
  };
  const auto surest = std::max_element(hits.begin(), hits.end(), less_sure);
  return surest == hits.end() ? 0 : lower.find((*surest)->pieces.front());
}

void LogReader::State::take_signs(const SeenLine& kept) {
  for (const IndexedSign* hit : hits) {
    const bool dominated = std::any_of(hits.begin(), hits.end(), [&](const IndexedSign* other) {
      return other->rule != hit->rule && other->sign->certainty >= hit->sign->certainty + k_much_surer;
    });
    SeenSign& seen = facts.signs[hit->sign];
    ++seen.count;
    if (seen.lines.size() < k_kept_lines && (seen.lines.empty() || seen.lines.back() != kept))
      seen.lines.push_back(kept);
    if (!dominated && !seen.own) seen.own = kept;
    if (kept.rank && seen.ranks.size() < k_named_ranks) seen.ranks.insert(*kept.rank);
  }
}

void LogReader::State::take_collective(const SeenLine& kept, std::string_view text) {
  const auto message = read_collective_message(text);
  if (!message || !kept.rank) return;
  const auto known = facts.collectives.find(*kept.rank);
  if (known == facts.collectives.end()) {
    if (facts.collectives.size() < k_most_collecting_ranks)
      facts.collectives.emplace(*kept.rank, SeenCollective{kept, *message});
  } else if (is_of_same_collective(known->second.message, *message)) {
    join(known->second.message, *message);
  }
}

void LogReader::State::take_numbers(const SeenLine& kept, std::string_view text, std::string_view lower) {
  if (facts.allocations.size() < k_kept_allocations) {
    if (const auto message = read_allocator_message(text)) facts.allocations.push_back({kept, *message});
  }
  take_collective(kept, text);
  if (auto barrier = read_barrier_message(lower)) {
    barrier->at = kept;
    facts.barrier = std::move(barrier);
  } else if (passes_barrier(lower)) {
    facts.barrier.reset();
  }
}

void LogReader::State::take_figures(const RawLine& raw, std::string_view lower) {
  auto not_finite = non_finite_figure(lower);
  figures.take(raw, lower, !not_finite);
  if (not_finite) count_figure(facts.not_finite, raw, std::move(*not_finite));
  if (tells_of_no_scale(lower)) count_figure(facts.no_scale, raw, "loss scale");
}

void LogReader::State::take_likely(const SeenLine& kept, std::string_view text, std::string_view lower) {
  // What a destructor raises follows from what its constructor did not finish.
  if (lower.find("exception ignored in") != std::string_view::npos) exception_ignored_at = kept.line;
  const bool follows = kept.line < exception_ignored_at + k_traceback_lines;
  const Likeliness likely = likeliness_of(text, lower);
  if (likely == Likeliness::none || (follows && likely == Likeliness::report)) return;
  if (likely >= Likeliness::report && kept.rank && first_reports.size() < k_most_collecting_ranks)
    first_reports.emplace(*kept.rank, kept);
  // Among lines that only say a word the last counts; among reports the first counts, because what follows is
  // a consequence.
  if (likely < likeliness || (likely == likeliness && likely != Likeliness::word)) return;
  likeliness = likely;
  facts.likely = kept;
  facts.likely_is_failure = likely >= Likeliness::report;
  const auto raised = likely == Likeliness::report ? tracebacks.raised_at(kept.rank) : std::nullopt;
  facts.raised_in = raised ? raised->in : "";
  facts.called_from = raised && raised->called_from != raised->in ? raised->called_from : "";
}

void LogReader::State::take_traceback(const SeenLine& kept, std::string_view text, std::string_view lower) {
  if (lower.find("traceback (most recent call last)") != std::string_view::npos) {
    open_traceback = kept;
  } else if (open_traceback && open_traceback->rank == kept.rank) {
    if (is_exception_line(without_spaces(text)))
      open_traceback.reset();
    else if (lower.find("file \"") != std::string_view::npos)
      open_traceback = kept;
  }
}

// A traceback without its exception says where something failed, if nothing else says more.
void LogReader::State::take_open_traceback() {
  if (facts.likely_is_failure || !open_traceback) return;
  facts.likely = open_traceback;
  facts.likely_is_failure = facts.traceback_is_cut = true;
  const auto raised = tracebacks.raised_at(open_traceback->rank);
  facts.raised_in = raised ? raised->in : "";
  facts.called_from = raised && raised->called_from != raised->in ? raised->called_from : "";
}

// Among several reports the one counts of the rank that the launcher says to have failed first.
void LogReader::State::take_launcher() {
  facts.first_failure = launcher.first();
  if (!facts.first_failure || !facts.first_failure->rank || likeliness == Likeliness::crash) return;
  const auto report = first_reports.find(*facts.first_failure->rank);
  if (report != first_reports.end()) facts.likely = report->second;
}

LogReader::LogReader(const SignIndex& index) : state_(std::make_unique<State>(index)) {}
LogReader::~LogReader() = default;

void LogReader::feed(std::string_view bytes) {
  state_->facts.bytes += static_cast<std::int64_t>(bytes.size());
  state_->facts.control_bytes += std::count_if(bytes.begin(), bytes.end(), is_no_text);
  state_->cutter.feed(bytes);
}

LogFacts LogReader::finish() {
  state_->cutter.finish();
  state_->facts.lines = state_->cutter.lines();
  state_->take_open_traceback();
  state_->take_launcher();
  state_->figures.finish(state_->facts);
  return std::move(state_->facts);
}

LogFacts read_log(std::string_view bytes, const SignIndex& index) {
  LogReader reader(index);
  reader.feed(bytes);
  return reader.finish();
}

std::string place_of(const SeenLine& line) {
  if (line.rank) return fmt::format("line {}, rank {}", line.line, *line.rank);
  return fmt::format("line {}", line.line);
}

}  // namespace shardlab
