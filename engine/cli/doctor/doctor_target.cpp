#include "engine/cli/doctor/doctor_target.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/doctor/flight/read_flight_dump.h"
#include "engine/doctor/log/check_is_log.h"
#include "engine/doctor/log/log_reader.h"
#include "engine/doctor/program/read_program.h"
#include "engine/doctor/registry.h"
#include "engine/formats/imports/foreign_file.h"

namespace shardlab {
namespace {

constexpr std::string_view k_standard_input = "-";
constexpr std::size_t k_piece = 1 << 18;
constexpr FileKind k_looked_at{"log", 64 << 10};  // of a file, for telling what it is
constexpr std::string_view k_gzip_magic = "\x1f\x8b";

Error with_other_ways(Error error) {
  if (error.code == ErrorCode::none)
    error.hint = "give the files of a folder one by one, and what comes through a pipe as `-`";
  return error;
}

Result<InputFile> open_target(const std::string& target) {
  if (target == k_standard_input) return InputFile::standard_input();
  return InputFile::open(target, k_looked_at.name).map_error(with_other_ways);
}

tl::unexpected<Error> is_compressed(const std::string& target) {
  return bad_input(in_file(target), "is compressed, not a text",
                   fmt::format("zcat {} | shardlab doctor -", target == k_standard_input ? "FILE" : target));
}

// Whether a line of the text begins with the key, as the top level of a YAML does.
bool has_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

// Logs quote the commands that start a job: a script is known by its name or by its first line.
bool is_of_a_tool(const std::string& target, std::string_view begin) {
  const auto file = read_foreign_file(target);
  if (file && file->kind == ForeignKind::script)
    return begin.starts_with("#!") || is_launch_script_name(target);
  if (file) return true;
  const std::string ending = std::filesystem::path(target).extension().string();
  const bool is_named = ending == ".json" || ending == ".yaml" || ending == ".yml";
  return is_named && file.error().place.line > 0;
}

// When the file was written, since 1970.
std::optional<Nanoseconds> written_at(const std::string& file) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  if (error) return std::nullopt;
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return Nanoseconds{std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

// The file itself, or the dumps in a folder in the order of their names.
std::vector<std::string> dumps_in(const std::string& target) {
  std::error_code error;
  if (!std::filesystem::is_directory(target, error)) return {target};
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(target, error), end; !error && at != end; at.increment(error)) {
    if (may_be_flight_dump(read_beginning(at->path(), k_looked_at).value_or("")))
      files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<DoctorTarget> kind_of_target(const std::string& target) {
  std::error_code ignored;
  if (target == k_standard_input) return DoctorTarget::log;
  if (!std::filesystem::exists(target, ignored)) return DoctorTarget::run;
  if (std::filesystem::is_directory(target, ignored)) return DoctorTarget::flight;
  if (target.ends_with(".py")) return DoctorTarget::program;
  SHARDLAB_TRY(const std::string begin, read_beginning(target, k_looked_at).map_error(with_other_ways));
  if (may_be_flight_dump(begin)) return DoctorTarget::flight;
  const bool scenario = has_key(begin, "model:") && (has_key(begin, "cluster:") ||
                                                     has_key(begin, "parallel:") || has_key(begin, "train:"));
  if (scenario) return DoctorTarget::scenario;
  return is_of_a_tool(target, begin) ? DoctorTarget::files : DoctorTarget::log;
}

Result<std::vector<FlightDump>> read_flight_dumps(const std::vector<std::string>& targets) {
  std::vector<FlightDump> dumps;
  std::map<int, std::string> files;  // by rank
  for (const std::string& target : targets) {
    for (const std::string& file : dumps_in(target)) {
      SHARDLAB_TRY(std::string bytes, read_input_file(file, k_flight_dump_file));
      SHARDLAB_TRY(FlightDump dump, read_flight_dump(std::move(bytes), file));
      dump.written = written_at(file);
      const auto [known, is_new] = files.emplace(dump.rank, file);
      if (!is_new)
        return bad_input(in_file(file), fmt::format("is of rank {}, and so is {}", dump.rank, known->second),
                         "one dump a rank: the pickle or the JSON");
      dumps.push_back(std::move(dump));
    }
  }
  if (dumps.empty())
    return bad_input(in_file(targets.front()), "is a folder without dumps of a flight recorder",
                     "give the folder of TORCH_FR_DUMP_TEMP_FILE, or files");
  return dumps;
}

Result<TrainingProgram> read_programs(const std::vector<std::string>& targets) {
  TrainingProgram program;
  for (const std::string& target : targets) {
    SHARDLAB_TRY(const std::string text, read_input_file(target, k_program_file));
    program.push_back(read_program(text, target));
  }
  return program;
}

Result<LogFacts> read_log(const std::string& target) {
  SHARDLAB_TRY(const InputFile file, open_target(target));
  LogReader reader(all_signs());
  std::string piece(k_piece, '\0');
  for (bool begins = true;;) {
    skip_hole(file);
    SHARDLAB_TRY(const std::size_t size, read_piece(file, piece, in_file(target)));
    if (size == 0) break;
    const std::string_view read = std::string_view(piece).substr(0, size);
    if (std::exchange(begins, false) && read.starts_with(k_gzip_magic)) return is_compressed(target);
    reader.feed(read);
  }
  LogFacts facts = reader.finish();
  SHARDLAB_CHECK_OK(check_is_log(facts, target));
  return facts;
}

}  // namespace shardlab
