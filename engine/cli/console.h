// Where a command writes: results to stdout, everything else to stderr.
//
// Text for people is printable (base/text/printable.h), whatever names and files it quotes.
//
// A reader that went away (`shardlab plan x | head`) ends the output silently; any other failure to write is
// reported by finish(). Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "engine/base/result.h"
#include "engine/cli/doctor/failed_run.h"
#include "engine/report/terminal.h"

namespace shardlab {

using Json = nlohmann::ordered_json;

class Console {
 public:
  // Nothing but the document of print_json() goes to stdout when `json` is set.
  Console(bool json, bool quiet, bool verbose) : json_(json), quiet_(quiet), verbose_(verbose) {}

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }

  // Result for people, to stdout. `text` brings its own line ends.
  void print(std::string_view text);
  // Result for programs, to stdout; one document a command. Text that is not UTF-8 is replaced, not refused.
  void print_json(const Json& document);

  // A line to stderr about what is going on: not with --quiet; detail() only with --verbose.
  void note(std::string_view line);
  void detail(std::string_view line);

  // With --progress json every event is a line of JSON on stderr ({"event": name, ...}; docs/json.md), at
  // once and whatever else is printed; without it event() does nothing.
  void set_events(bool wanted) { events_ = wanted; }
  bool events() const { return events_; }
  void event(std::string_view name, const Json& fields);

  // What the doctor makes of the error that comes next; print_error() tells it, unless somebody takes it.
  void keep_diagnosis(std::optional<Diagnosis> diagnosis) { diagnosis_ = std::move(diagnosis); }
  std::optional<Diagnosis> take_diagnosis() { return std::exchange(diagnosis_, std::nullopt); }

  // `error: where: what`, `  hint: ...` and the line of a diagnosis to stderr, whatever the options; with
  // --json the document {"error": ...} to stdout as well, and "doctor" in it.
  void print_error(const Error& error);

  // The style of tables on stdout.
  TextStyle style() const;
  // Whether a person watches stderr, so that a progress line makes sense.
  bool shows_progress() const;

  // Whether everything was written; call once at the end.
  Status finish();

 private:
  void write_out(std::string_view text);

  bool json_;
  bool quiet_;
  bool verbose_;
  bool events_ = false;
  bool reader_gone_ = false;
  int write_error_ = 0;  // errno of the first failed write
  std::optional<Diagnosis> diagnosis_;
};

// The field `doctor` of docs/json.md.
Json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace shardlab
