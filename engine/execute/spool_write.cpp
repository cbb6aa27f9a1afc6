#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"
#include "engine/base/write_all.h"
#include "engine/execute/spool.h"

namespace shardlab {
namespace {

using Text = fmt::memory_buffer;

// JSON has no word for what is not finite.
std::string number_text(const std::optional<double>& value) {
  if (!value) return "null";
  if (!std::isfinite(*value)) return std::isnan(*value) ? "\"nan\"" : *value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{:.17g}", *value);
}

// The classes, or spaces, that hold anything: [class, bytes, class, bytes ...].
void append_kinds(Text& text, std::span<const Bytes> by_kind) {
  text.push_back('[');
  bool first = true;
  for (std::size_t i = 0; i < by_kind.size(); ++i) {
    if (by_kind[i].value == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}{},{}", first ? "" : ",", i, by_kind[i].value);
    first = false;
  }
  text.push_back(']');
}

void append_spans(Text& text, const std::vector<Span>& spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& s = spans[i];
    fmt::format_to(std::back_inserter(text), "{}[{},{},{},{},{},{}]", i == 0 ? "" : ",", s.instruction.value,
                   s.issue.value, s.ready.value, s.start.value, s.end.value, s.skipped ? 1 : 0);
  }
}

void append_memory(Text& text, const std::vector<MemorySample>& samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const MemorySample& s = samples[i];
    fmt::format_to(std::back_inserter(text), "{}[{},{},{},", i == 0 ? "" : ",", s.instruction.value,
                   s.live.value, s.peak.value);
    append_kinds(text, s.by_class);
    text.push_back(',');
    append_kinds(text, s.by_class_at_peak);
    text.push_back(',');
    append_kinds(text, s.elsewhere);
    text.push_back(',');
    append_kinds(text, s.peak_elsewhere);
    text.push_back(']');
  }
}

void append_sent(Text& text, const std::vector<SentInStep>& sent) {
  for (std::size_t i = 0; i < sent.size(); ++i) {
    fmt::format_to(std::back_inserter(text), R"({}["{}",{},{},{}])", i == 0 ? "" : ",",
                   to_string(sent[i].kind), sent[i].group_size, sent[i].operations, sent[i].bytes.value);
  }
}

std::string peak_text(const std::vector<MemorySample>& samples) {
  if (samples.empty()) return "null";
  return fmt::to_string(std::max_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
                          return a.peak < b.peak;
                        })->peak.value);
}

std::string_view view(const Text& text) {
  return {text.data(), text.size()};
}

nlohmann::ordered_json device_memory_json(const DeviceMemory& memory) {
  return {{"requested", memory.requested.value},
          {"allocated", memory.allocated.value},
          {"active", memory.active.value},
          {"reserved", memory.reserved.value},
          {"inactive_split", memory.inactive_split.value},
          {"retries", memory.retries},
          {"out_of_memory", memory.out_of_memory},
          {"library_workspace", memory.library_workspace.value},
          {"context", memory.context.value},
          {"communication", memory.communication.value},
          {"device_peak", memory.device_peak.value}};
}

}  // namespace

std::filesystem::path spool_path(const std::filesystem::path& run_directory, int rank) {
  return run_directory / fmt::format("rank-{}.spool", rank);
}

Result<SpoolWriter> SpoolWriter::create(const std::filesystem::path& path) {
  int descriptor;
  do descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0)
    return run_failed(in_file(path.string()), fmt::format("cannot be written: {}", std::strerror(errno)));
  return SpoolWriter(descriptor, path);
}

SpoolWriter::SpoolWriter(SpoolWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

SpoolWriter::~SpoolWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status SpoolWriter::write_line(std::string_view line) {
  const int failed = write_all(descriptor_, line);
  if (failed == 0) return {};
  return run_failed(in_file(path_.string()), fmt::format("cannot be written: {}", std::strerror(failed)),
                    "is the disk full?");
}

Status SpoolWriter::write(const SpoolHeader& header) {
  const nlohmann::ordered_json line = {{"record", "header"},          {"rank", header.rank},
                                       {"world", header.world},       {"run_hash", header.run_hash},
                                       {"host", header.host},         {"machine", header.machine},
                                       {"versions", header.versions}, {"steps", header.steps}};
  return write_line(line.dump() + '\n');
}

Status SpoolWriter::write(const SpoolStep& step) {
  Text text;
  // What a watcher wants to show stands in front.
  fmt::format_to(
      std::back_inserter(text),
      R"({{"record":"step","step":{},"mean_loss":{},"duration":{},"peak":{},"aligned":{},"began":{},"rank":{},"loss":{},"gradient_norm":{},"spans":[)",
      step.step, number_text(step.mean_loss), step.trace.duration.value, peak_text(step.trace.memory),
      step.aligned.value, step.began.value, step.trace.rank, number_text(step.trace.loss),
      number_text(step.trace.gradient_norm));
  append_spans(text, step.trace.spans);
  fmt::format_to(std::back_inserter(text), R"(],"memory":[)");
  append_memory(text, step.trace.memory);
  fmt::format_to(std::back_inserter(text), R"(],"sent":[)");
  append_sent(text, step.trace.sent);
  fmt::format_to(std::back_inserter(text), "]}}\n");
  return write_line(view(text));
}

Status SpoolWriter::write(const SpoolEnd& end) {
  nlohmann::ordered_json line = {{"record", "end"},
                                 {"communication_workspace", end.communication_workspace.value}};
  if (end.device_memory) line["device_memory"] = device_memory_json(*end.device_memory);
  for (const OperatorTime& op : end.operators)
    line["operators"].push_back({op.operation, op.backward, op.calls, op.time.value});
  return write_line(line.dump() + '\n');
}

Status SpoolWriter::write(const OutOfMemory& out) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < out.by_class.size(); ++i) {
    if (out.by_class[i].value == 0) continue;
    classes.push_back(i);
    classes.push_back(out.by_class[i].value);
  }
  const nlohmann::ordered_json line = {{"record", "out_of_memory"}, {"rank", out.rank},
                                       {"step", out.step},          {"instruction", out.instruction.value},
                                       {"label", out.label},        {"asked", out.asked.value},
                                       {"live", out.live.value},    {"by_class", classes},
                                       {"limit", out.limit.value},  {"allocator", out.allocator}};
  return write_line(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

Status SpoolWriter::write(const Error& error) {
  return write_line(fmt::format("{{\"record\":\"error\",\"error\":{}}}\n", error_json(error)));
}

}  // namespace shardlab
