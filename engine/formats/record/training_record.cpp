#include "engine/formats/record/training_record.h"
#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/base/json_number.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

using nlohmann::json;

// One file, with its name for errors. Getters throw json's exceptions, which read_training_record() catches.
class Reader {
 public:
  explicit Reader(Place file) : file_(std::move(file)) {}

  Error error(std::string what) const {
    return {ErrorKind::bad_input, file_, std::move(what),
            "write it anew: run the exported program with --record"};
  }

  static Nanoseconds duration(const json& seconds) {
    const double value = seconds.get<double>();
    if (!(value >= 0) || value > 1e9) throw std::out_of_range("a step takes no such time");
    return Nanoseconds{static_cast<std::int64_t>(std::llround(value * 1e9))};
  }

  static std::optional<Bytes> bytes(const json& rank, const char* key) {
    const auto found = rank.find(key);
    if (found == rank.end() || found->is_null()) return std::nullopt;
    const auto value = json_number<std::int64_t>(*found);
    if (value < 0) throw std::out_of_range("bytes below 0");
    return Bytes{value};
  }

  static RecordedRank rank(const json& node) {
    RecordedRank rank;
    rank.rank = json_number<int>(node.at("rank"));
    for (const json& seconds : node.at("seconds")) rank.steps.push_back(duration(seconds));
    rank.peak_allocated = bytes(node, "peak_allocated");
    rank.peak_reserved = bytes(node, "peak_reserved");
    return rank;
  }

  static TrainingRecord record(const json& root) {
    TrainingRecord record;
    record.scenario = root.at("scenario").get<std::string>();
    record.device = root.at("device").get<std::string>();
    record.versions = root.at("versions").get<std::map<std::string, std::string>>();
    record.warmup = json_number<std::uint32_t>(root.at("warmup"));
    record.losses = root.at("losses").get<std::vector<double>>();
    for (const json& node : root.at("ranks")) record.ranks.push_back(rank(node));
    return record;
  }

  Status check(const TrainingRecord& record) const {
    if (record.ranks.empty()) return fail(error("has no ranks"));
    for (std::size_t i = 0; i < record.ranks.size(); ++i) {
      const RecordedRank& rank = record.ranks[i];
      if (rank.rank != static_cast<int>(i))
        return fail(error(fmt::format("has rank {} where rank {} should be", rank.rank, i)));
      if (rank.steps.size() != record.losses.size())
        return fail(error(fmt::format("rank {} has {} steps, there are {} losses", i, rank.steps.size(),
                                      record.losses.size())));
    }
    if (record.warmup >= record.losses.size())
      return fail(
          error(fmt::format("{} steps of warm-up leave none of {}", record.warmup, record.losses.size())));
    return {};
  }

 private:
  Place file_;
};

}  // namespace

Result<TrainingRecord> read_training_record(const std::filesystem::path& file) {
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_record_file_kind));
  const Reader reader(in_file(file.string()));
  if (is_json_too_large(text))
    return fail(reader.error("is no record of a training: it has too many values"));
  try {
    const json root = json::parse(text);
    if (root.value("format", "") != "shardlab-record")
      return fail(reader.error("is no record of a training"));
    if (json_number<int>(root.at("version")) != 1)
      return fail(
          reader.error(fmt::format("is of version {}, this program reads 1", root.at("version").dump())));
    TrainingRecord record = Reader::record(root);
    SHARDLAB_CHECK_OK(reader.check(record));
    return record;
  } catch (const std::exception& error) {  // json's, and those of the getters
    return fail(reader.error(fmt::format("is damaged: {}", error.what())));
  }
}

std::vector<Nanoseconds> measured_steps(const TrainingRecord& record) {
  std::vector<Nanoseconds> steps(record.losses.size() - record.warmup);
  for (const RecordedRank& rank : record.ranks) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] = std::max(steps[i], rank.steps[i + record.warmup]);
  }
  return steps;
}

}  // namespace shardlab
