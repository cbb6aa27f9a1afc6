// Texts and packed values in the columns of a database, each by itself: the first byte says which.
#include <exception>

#include <nlohmann/json.hpp>

#include "engine/store/packed.h"
#include "engine/store/provenance_json.h"
#include "engine/trace/run_summary_json.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

// Damage is told as SQLite tells it of a page, by an exception that the store catches.
template <typename Read>
Answer unless_thrown(const Read& read) {
  try {
    read();
    return Answer::taken;
  } catch (const std::exception&) {
    return Answer::refused;
  }
}

Answer read_summary(std::string_view text) {
  const Result<RunSummary> summary = parse_summary_json(text);
  if (!summary) return answer_of(summary);
  const std::string written = summary_json(*summary).dump();
  const Result<RunSummary> again = parse_summary_json(written);
  promise(again.has_value(), "a summary that was written can be read");
  promise(summary_json(*again).dump() == written, "a summary passes through its text");
  return Answer::taken;
}

Answer read_provenance(std::string_view text) {
  const Result<Provenance> provenance = parse_provenance(text, RunKind::measured);
  if (!provenance) return answer_of(provenance);
  const std::string written = provenance_text(*provenance);
  const Result<Provenance> again = parse_provenance(written, RunKind::measured);
  promise(again && provenance_text(*again) == written, "a provenance passes through its text");
  return Answer::taken;
}

}  // namespace

Answer read_stored_text(std::string_view bytes) {
  if (bytes.empty()) return Answer::refused;
  const std::string_view value = bytes.substr(1);
  switch (static_cast<unsigned char>(bytes[0]) % 4) {
    case 0: return read_summary(value);
    case 1: return read_provenance(value);
    case 2: return unless_thrown([&] { (void)unpack_text(value); });
    default:
      return unless_thrown([&] {
        RankTrace trace;
        unpack_trace(value, trace);
      });
  }
}

}  // namespace shardlab::fuzz
