#include "engine/execute/spool.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"
#include "engine/base/folder.h"
#include "engine/base/json_depth.h"
#include "engine/base/json_number.h"
#include "engine/base/text/input_lines.h"

namespace shardlab {

namespace {

using Json = nlohmann::json;

std::optional<double> read_number(const Json& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text != "inf" && text != "-inf") throw std::out_of_range("no number");
  return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

Nanoseconds time_at(const Json& list, std::size_t index) {
  return {json_number<std::int64_t>(list.at(index))};
}

template <std::size_t n>
std::array<Bytes, n> read_kinds(const Json& list) {
  std::array<Bytes, n> by_kind{};
  for (std::size_t i = 0; i + 1 < list.size(); i += 2)
    by_kind.at(json_number<std::size_t>(list[i])) = {json_number<std::int64_t>(list[i + 1])};
  return by_kind;
}

SpoolHeader read_header(const Json& line) {
  SpoolHeader header;
  header.rank = json_number<int>(line.at("rank"));
  header.world = json_number<int>(line.at("world"));
  line.at("run_hash").get_to(header.run_hash);
  line.at("host").get_to(header.host);
  line.at("machine").get_to(header.machine);
  line.at("versions").get_to(header.versions);
  header.steps = json_number<std::int64_t>(line.at("steps"));
  return header;
}

SpoolStep read_step(const Json& line) {
  SpoolStep step;
  step.step = json_number<std::int64_t>(line.at("step"));
  step.aligned = {json_number<std::int64_t>(line.at("aligned"))};
  step.began = {json_number<std::int64_t>(line.at("began"))};
  step.mean_loss = read_number(line.at("mean_loss"));
  step.trace.rank = json_number<int>(line.at("rank"));
  step.trace.duration = {json_number<std::int64_t>(line.at("duration"))};
  step.trace.loss = read_number(line.at("loss"));
  step.trace.gradient_norm = read_number(line.at("gradient_norm"));
  for (const Json& span : line.at("spans")) {
    step.trace.spans.push_back({InstructionId{json_number<std::uint32_t>(span.at(0))}, time_at(span, 1),
                                time_at(span, 2), time_at(span, 3), time_at(span, 4),
                                json_number<int>(span.at(5)) != 0});
  }
  for (const Json& sample : line.at("memory")) {
    step.trace.memory.push_back({InstructionId{json_number<std::uint32_t>(sample.at(0))},
                                 {json_number<std::int64_t>(sample.at(1))},
                                 {json_number<std::int64_t>(sample.at(2))},
                                 read_kinds<k_buffer_classes>(sample.at(3)),
                                 read_kinds<k_buffer_classes>(sample.at(4)),
                                 read_kinds<k_memory_spaces>(sample.at(5)),
                                 read_kinds<k_memory_spaces>(sample.at(6))});
  }
  for (const Json& sent : line.at("sent")) {
    const auto kind = parse_word<InstructionKind>(sent.at(0).get<std::string>());
    step.trace.sent.push_back({kind.value_or(InstructionKind::Marker),
                               json_number<int>(sent.at(1)),
                               json_number<std::int64_t>(sent.at(2)),
                               {json_number<std::int64_t>(sent.at(3))}});
  }
  return step;
}

Bytes bytes_at(const Json& line, const char* name) {
  return {json_number<std::int64_t>(line.at(name))};
}

DeviceMemory read_device_memory(const Json& line) {
  DeviceMemory memory;
  memory.requested = bytes_at(line, "requested");
  memory.allocated = bytes_at(line, "allocated");
  memory.active = bytes_at(line, "active");
  memory.reserved = bytes_at(line, "reserved");
  memory.inactive_split = bytes_at(line, "inactive_split");
  memory.retries = json_number<std::int64_t>(line.at("retries"));
  memory.out_of_memory = json_number<std::int64_t>(line.at("out_of_memory"));
  memory.library_workspace = bytes_at(line, "library_workspace");
  memory.context = bytes_at(line, "context");
  memory.communication = bytes_at(line, "communication");
  memory.device_peak = bytes_at(line, "device_peak");
  return memory;
}

SpoolEnd read_end(const Json& line) {
  SpoolEnd end{bytes_at(line, "communication_workspace"), {}};
  if (line.contains("device_memory")) end.device_memory = read_device_memory(line.at("device_memory"));
  for (const Json& op : line.value("operators", Json::array())) {
    end.operators.push_back({op.at(0).get<std::string>(),
                             op.at(1).get<bool>(),
                             json_number<std::int64_t>(op.at(2)),
                             {json_number<std::int64_t>(op.at(3))}});
  }
  return end;
}

OutOfMemory read_out_of_memory(const Json& line) {
  OutOfMemory out;
  out.rank = json_number<int>(line.at("rank"));
  out.step = json_number<std::int64_t>(line.at("step"));
  out.instruction = InstructionId{json_number<std::uint32_t>(line.at("instruction"))};
  out.label = line.at("label").get<std::string>();
  out.asked = bytes_at(line, "asked");
  out.live = bytes_at(line, "live");
  out.by_class = read_kinds<k_buffer_classes>(line.at("by_class"));
  out.limit = bytes_at(line, "limit");
  out.allocator = line.at("allocator").get<std::string>();
  return out;
}

void add_record(const Json& line, Spool& spool) {
  const auto record = line.at("record").get<std::string>();
  if (record == "header") spool.header = read_header(line);
  if (record == "step") spool.steps.push_back(read_step(line));
  if (record == "end") spool.end = read_end(line);
  if (record == "out_of_memory") spool.out_of_memory = read_out_of_memory(line);
  if (record == "error") spool.error = parse_error_json(line.at("error").dump());
}

// A step of a million instructions.
constexpr std::size_t k_longest_record = std::size_t{256} << 20;
constexpr std::size_t k_most_values_of_record = 30'000'000;

// A record that is there and cannot be read is the machine's trouble: it can be read later.
tl::unexpected<Error> cannot_be_read(Error error) {
  if (error.code == ErrorCode::unreadable) error.kind = ErrorKind::not_possible;
  return fail(std::move(error));
}

}  // namespace

Result<Spool> read_spool(const std::filesystem::path& path) {
  SHARDLAB_TRY(const bool is_written, is_there(path));
  if (!is_written) return bad_input(in_file(path.string()), "cannot be opened", "did the rank start?");
  auto lines = InputLines::open(path, k_spool_file, k_longest_record);
  if (!lines) return cannot_be_read(std::move(lines).error());
  Spool spool;
  for (std::string line;;) {
    const Result<bool> is_line = lines->next(line);
    if (!is_line) return cannot_be_read(is_line.error());
    if (!*is_line) return spool;
    if (!lines->was_ended()) {  // it was being written
      spool.truncated = true;
      return spool;
    }
    try {
      if (is_json_too_deep(line) || is_json_too_large(line, k_most_values_of_record))
        throw std::out_of_range("too much for a record");
      add_record(Json::parse(line), spool);
    } catch (const std::exception&) {
      return bad_input(in_file(path.string(), lines->number()), "is not a record of a run",
                       "the file is damaged");
    }
  }
}

}  // namespace shardlab
