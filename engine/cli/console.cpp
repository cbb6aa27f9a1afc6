#include "engine/cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

std::string_view kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input: return "bad_input";
    case ErrorKind::not_possible: return "not_possible";
    case ErrorKind::run_failed: return "run_failed";
    case ErrorKind::internal: break;
  }
  return "internal";
}

// 0 or the errno of the write that failed.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_to_stderr(std::string text) {
  text += '\n';
  write_all(STDERR_FILENO, text);
}

// The fields of docs/json.md, "Errors".
Json error_document(const Error& error) {
  return {{"error",
           {{"kind", kind_name(error.kind)},
            {"where", error.where},
            {"what", error.what},
            {"hint", error.hint},
            {"exit_code", exit_code(error.kind)}}}};
}

}  // namespace

void Console::write_out(std::string_view text) {
  if (reader_gone_ || write_error_ != 0) return;
  const int failure = write_all(STDOUT_FILENO, text);
  if (failure == EPIPE)
    reader_gone_ = true;
  else
    write_error_ = failure;
}

void Console::print(std::string_view text) {
  if (!json_) write_out(text);
}

void Console::print_json(const Json& document) {
  write_out(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Console::note(std::string_view line) {
  if (!quiet_) write_to_stderr(std::string(line));
}

void Console::detail(std::string_view line) {
  if (verbose_) write_to_stderr(std::string(line));
}

void Console::print_error(const Error& error) {
  std::string text = "error: ";
  for (const char c : error.where.empty() ? error.what : error.where + ": " + error.what) {
    text += c;
    if (c == '\n') text += "error: ";  // several mistakes of one file, a line each
  }
  if (!error.hint.empty()) text += "\n  hint: " + error.hint;
  write_to_stderr(text);
  if (json_) print_json(error_document(error));
  event("error", error_document(error)["error"]);
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
