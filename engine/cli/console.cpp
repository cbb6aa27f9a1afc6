#include "engine/cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"
#include "engine/base/text/printable.h"
#include "engine/base/text/shown_part.h"
#include "engine/base/write_all.h"

namespace shardlab {
namespace {

void write_to_stderr(std::string_view text) {
  write_all(STDERR_FILENO, printable(text) + '\n');
}

// The fields of docs/json.md, "Errors".
Json error_fields(const Error& error) {
  Json fields = Json::parse(error_json(error));
  fields["exit_code"] = exit_code(error.kind);
  return fields;
}

}  // namespace

Json diagnosis_json(const Diagnosis& diagnosis) {
  return {{"rule", diagnosis.rule},
          {"codes", diagnosis.codes},
          {"title", diagnosis.title},
          {"file", diagnosis.file.empty() ? Json() : Json(diagnosis.file)}};
}

void Console::write_out(std::string_view text) {
  if (reader_gone_ || write_error_ != 0) return;
  const int failure = write_all(STDOUT_FILENO, text);
  if (failure == EPIPE)
    reader_gone_ = true;
  else
    write_error_ = failure;
}

void Console::print(std::string_view text) {
  if (json_) return;
  const Colours colours = style().colour ? Colours::kept : Colours::shown;
  write_out(is_printable(text, colours) ? text : printable(text, colours));
}

void Console::print_json(const Json& document) {
  write_out(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Console::note(std::string_view line) {
  if (!quiet_) write_to_stderr(line);
}

void Console::detail(std::string_view line) {
  if (verbose_) write_to_stderr(line);
}

void Console::print_error(const Error& error) {
  std::string text = "error: ";
  for (const char c : message_text(error)) {
    text += c;
    if (c == '\n') text += "error: ";  // several mistakes of one file, a line each
  }
  if (!error.hint.empty()) text += "\n  hint: " + shown_part(error.hint, k_shown_of_text);
  if (diagnosis_) text += "\n" + diagnosis_text(*diagnosis_);
  write_to_stderr(text);
  if (!json_ && !events_) return;
  Json document = {{"error", error_fields(error)}};
  if (diagnosis_) document["doctor"] = diagnosis_json(*diagnosis_);
  if (json_) print_json(document);
  event("error", error_fields(error));
}

void Console::event(std::string_view name, const Json& fields) {
  if (!events_) return;
  Json line = {{"event", name}};
  line.update(fields);
  write_to_stderr(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

TextStyle Console::style() const {
  return text_style(STDOUT_FILENO);
}

bool Console::shows_progress() const {
  return !quiet_ && !events_ && ::isatty(STDERR_FILENO) == 1;
}

Status Console::finish() {
  if (write_error_ == 0) return {};
  return not_possible("stdout", std::string("cannot write: ") + std::strerror(write_error_));
}

}  // namespace shardlab
