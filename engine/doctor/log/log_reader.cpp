#include "engine/doctor/log/log_reader.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/doctor/log/likely_line.h"
#include "engine/doctor/log/log_lines.h"
#include "engine/doctor/log/log_numbers.h"
#include "engine/doctor/log/rank_prefix.h"
#include "engine/doctor/log/traceback.h"

namespace shardlab {
namespace {

constexpr std::size_t k_kept_lines = 3;                // of each sign
constexpr std::size_t k_kept_allocations = 16;         // of the log
constexpr std::size_t k_most_collecting_ranks = 4096;  // whose collectives are kept
// A sign that is this much surer than another one on the same line is what the line says.
constexpr int k_much_surer = 8;

// NUL is every other byte of a text in UTF-16; programs write backspaces, form feeds and escapes to
// terminals.
bool is_no_text(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 && value != 0 && (value < '\b' || value > '\r') && value != 0x1b;
}

}  // namespace

struct LogReader::State {
  explicit State(const SignIndex& signs)
      : index(signs), cutter([this](std::int64_t number, std::string_view text) { take(number, text); }) {}

  void take(std::int64_t number, std::string_view bytes);
  void take_signs(const SeenLine& kept, std::string_view lower, const std::vector<std::uint32_t>& found);
  void take_numbers(const SeenLine& kept, std::string_view text);
  void take_likely(const SeenLine& kept, std::string_view text, std::string_view lower);

  const SignIndex& index;
  LineCutter cutter;
  Tracebacks tracebacks;
  LogFacts facts;
  Likeliness likeliness = Likeliness::none;
  bool in_root_cause = false;
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
  const SeenLine kept{number, ranked.rank, readable(line)};
  take_signs(kept, lower, found);
  take_numbers(kept, line);
  if (hits.empty()) take_likely(kept, ranked.text, lower);
}

void LogReader::State::take_signs(const SeenLine& kept, std::string_view lower,
                                  const std::vector<std::uint32_t>& anchors) {
  hits.clear();
  for (const std::uint32_t anchor : anchors) {
    for (const IndexedSign& sign : index.signs_of(anchor)) {
      if (matches(sign, lower) && (sign.frame.empty() || tracebacks.has_frame(kept.rank, sign.frame)))
        hits.push_back(&sign);
    }
  }
  for (const IndexedSign* hit : hits) {
    const bool dominated = std::any_of(hits.begin(), hits.end(), [&](const IndexedSign* other) {
      return other->rule != hit->rule && other->sign->certainty >= hit->sign->certainty + k_much_surer;
    });
    SeenSign& seen = facts.signs[hit->sign];
    ++seen.count;
    if (seen.lines.size() < k_kept_lines && (seen.lines.empty() || seen.lines.back() != kept))
      seen.lines.push_back(kept);
    if (!dominated && !seen.own) seen.own = kept;
  }
}

void LogReader::State::take_numbers(const SeenLine& kept, std::string_view text) {
  if (facts.allocations.size() < k_kept_allocations) {
    if (const auto message = read_allocator_message(text)) facts.allocations.push_back({kept, *message});
  }
  if (const auto message = read_collective_message(text); message && kept.rank) {
    const auto known = facts.collectives.find(*kept.rank);
    if (known == facts.collectives.end()) {
      if (facts.collectives.size() < k_most_collecting_ranks)
        facts.collectives.emplace(*kept.rank, SeenCollective{kept, *message});
    } else if (known->second.message.sequence == message->sequence) {
      join(known->second.message, *message);
    }
  }
  // torchrun's summary: "Root Cause (first observed failure):", "[0]:", "  rank      : 3 (local_rank: 3)".
  if (text.find("Root Cause") != std::string_view::npos) in_root_cause = true;
  if (in_root_cause && !facts.first_failed_rank && text.find("(local_rank:") != std::string_view::npos) {
    if (const auto rank = integer_after(text, "rank      "); rank && *rank >= 0 && *rank < (1 << 20))
      facts.first_failed_rank = static_cast<int>(*rank);
  }
}

void LogReader::State::take_likely(const SeenLine& kept, std::string_view text, std::string_view lower) {
  const Likeliness likely = likeliness_of(text, lower);
  // Among lines that only say a word the last counts; among reports the first counts, because what follows is
  // a consequence.
  if (likely == Likeliness::none || likely < likeliness) return;
  if (likely == likeliness && likely != Likeliness::word) return;
  likeliness = likely;
  facts.likely = kept;
  facts.likely_is_failure = likely >= Likeliness::report;
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
