#include "engine/doctor/flight/read_flight_dump.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"
#include "engine/base/parse.h"
#include "engine/base/pickle/pickle_reader.h"
#include "engine/base/text/log_lines.h"

namespace shardlab {
namespace {

using Json = nlohmann::json;

constexpr int k_deepest = 12;                   // maps and lists in each other; a dump has five
constexpr std::size_t k_most_values = 1 << 23;  // of a dump
constexpr std::size_t k_longest_name = 120;

// A pickle's data as JSON. Nothing for what lies too deep (an object may contain itself) or is too much.
class PickleAsJson {
 public:
  explicit PickleAsJson(const PickleTree& tree) : tree_(tree) {}

  std::optional<Json> value(PickleValue at, int depth = 0) {
    if (depth > k_deepest || ++values_ > k_most_values) return std::nullopt;
    switch (tree_.kind(at)) {
      case PickleKind::text:
      case PickleKind::bytes: return Json(std::string(tree_.text(at).value_or("")));
      case PickleKind::boolean: return Json(tree_.integer(at).value_or(0) != 0);
      case PickleKind::integer: return Json(tree_.integer(at).value_or(0));
      case PickleKind::list:
      case PickleKind::tuple: return list(at, depth);
      case PickleKind::dictionary: return map(at, depth);
      case PickleKind::none:
      case PickleKind::number: return Json();
    }
    return Json();
  }

 private:
  std::optional<Json> list(PickleValue at, int depth) {
    Json made = Json::array();
    for (const PickleValue item : tree_.items(at)) {
      auto each = value(item, depth + 1);
      if (!each) return std::nullopt;
      made.push_back(*std::move(each));
    }
    return made;
  }

  std::optional<Json> map(PickleValue at, int depth) {
    Json made = Json::object();
    const auto items = tree_.items(at);
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const auto key = tree_.text(items[i]);
      if (!key) continue;
      auto each = value(items[i + 1], depth + 1);
      if (!each) return std::nullopt;
      made[std::string(*key)] = *std::move(each);
    }
    return made;
  }

  const PickleTree& tree_;
  std::size_t values_ = 0;
};

// What is not there, or of another type, reads as nothing.
const Json& member(const Json& map, const char* key) {
  static const Json k_nothing;
  const auto found = map.is_object() ? map.find(key) : map.end();
  return map.is_object() && found != map.end() ? *found : k_nothing;
}

std::string text_of(const Json& value) {
  return value.is_string() ? readable(value.get_ref<const std::string&>(), k_longest_name) : std::string();
}

// JSON has some numbers as texts.
std::int64_t integer_of(const Json& value) {
  if (value.is_string()) return parse_integer(value.get_ref<const std::string&>()).value_or(0);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

TensorSizes sizes_of(const Json& lists) {
  TensorSizes sizes;
  if (!lists.is_array()) return sizes;
  for (const Json& list : lists) {
    std::vector<std::int64_t>& shape = sizes.emplace_back();
    if (!list.is_array()) continue;
    for (const Json& size : list) shape.push_back(integer_of(size));
  }
  return sizes;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Json& text : list) texts.push_back(text_of(text));
  return texts;
}

// "gloo:all_reduce", "nccl:_all_gather_base": the library's name is left out.
std::string operation_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

// "0 default_pg".
std::string group_of(const Json& name_and_description) {
  if (!name_and_description.is_array() || name_and_description.empty()) return "?";
  const std::string name = text_of(name_and_description[0]);
  const std::string description = name_and_description.size() > 1 ? text_of(name_and_description[1]) : "";
  return description.empty() ? name : fmt::format("{} {}", name, description);
}

bool is_of_torch(const std::string& file) {
  constexpr std::array<std::string_view, 4> k_places = {"/torch/", "c10d_logger.py", "<frozen",
                                                        "/accelerate/utils/operations.py"};
  return std::any_of(k_places.begin(), k_places.end(),
                     [&](std::string_view place) { return file.find(place) != std::string::npos; });
}

// The frames begin with the innermost.
std::string called_from(const Json& frames) {
  if (!frames.is_array()) return {};
  for (const Json& frame : frames) {
    const std::string file = text_of(member(frame, "filename"));
    if (file.empty() || is_of_torch(file)) continue;
    return fmt::format("{}:{} ({})", std::filesystem::path(file).filename().string(),
                       integer_of(member(frame, "line")), text_of(member(frame, "name")));
  }
  return {};
}

// Work that is retired and not completed has failed or timed out; a library that tells of no states (Gloo)
// says in the status of its group how far it came.
bool is_done(const Json& entry, const Json& status) {
  constexpr std::string_view k_completed = "completed";
  if (text_of(member(entry, "state")) == k_completed) return true;
  if (member(entry, "retired") != Json(true)) return false;
  const Json& group = member(status, std::to_string(integer_of(member(entry, "pg_id"))).c_str());
  return group.is_null() || integer_of(member(entry, "collective_seq_id")) <=
                                integer_of(member(group, "last_completed_collective"));
}

FlightEntry entry_of(const Json& json, const Json& status) {
  FlightEntry entry;
  entry.group = group_of(member(json, "process_group"));
  entry.sequence = integer_of(member(json, "collective_seq_id"));
  entry.operation = operation_of(text_of(member(json, "profiling_name")));
  entry.inputs = sizes_of(member(json, "input_sizes"));
  entry.outputs = sizes_of(member(json, "output_sizes"));
  entry.input_types = texts_of(member(json, "input_dtypes"));
  constexpr std::string_view k_started = "started";
  entry.is_done = is_done(json, status);
  entry.is_started = entry.is_done || text_of(member(json, "state")) == k_started;
  entry.called_from = called_from(member(json, "frames"));
  if (const std::int64_t created = integer_of(member(json, "time_created_ns")); created > 0)
    entry.created = Nanoseconds{created};
  return entry;
}

// "[0, 1, 2]", or a list.
std::vector<int> ranks_of(const Json& ranks) {
  std::vector<int> members;
  const Json list =
      ranks.is_string() ? Json::parse(ranks.get_ref<const std::string&>(), nullptr, false) : ranks;
  if (!list.is_array()) return members;
  for (const Json& rank : list) members.push_back(static_cast<int>(integer_of(rank)));
  return members;
}

// What the configuration says of a group: by its name; the default group is listed by no name as well.
const Json& configuration_of(const Json& configuration, const std::string& group) {
  const std::size_t space = group.find(' ');
  const Json& named = member(configuration, group.substr(0, space).c_str());
  constexpr std::string_view k_default = " default_pg";
  const bool is_default = space != std::string::npos && group.substr(space) == k_default;
  return named.is_null() && is_default ? member(configuration, "") : named;
}

std::map<std::string, std::vector<int>> groups_of(const Json& configuration, const FlightDump& dump) {
  std::map<std::string, std::vector<int>> groups;
  for (const FlightEntry& entry : dump.entries) {
    groups.try_emplace(entry.group, ranks_of(member(configuration_of(configuration, entry.group), "ranks")));
  }
  return groups;
}

std::optional<int> rank_of(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  for (const std::string_view ending : {".json", ".pickle", ".pkl"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  std::size_t begin = name.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
  const auto number = parse_integer(std::string_view(name).substr(begin));
  return number && *number < (1 << 24) ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

tl::unexpected<Error> nested_too_deeply(const std::string& file) {
  return bad_input(in_file(file), "is no dump of a flight recorder: it is nested too deeply");
}

tl::unexpected<Error> holds_too_much(const std::string& file) {
  return bad_input(in_file(file), fmt::format("is no dump of a flight recorder: it has more than {} values",
                                              k_most_json_values));
}

Result<Json> tree_of(std::string bytes, const std::string& file) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && bytes[first] == '{') {
    if (is_json_too_large(bytes)) return holds_too_much(file);
    if (is_json_too_deep(bytes)) return nested_too_deeply(file);
    Json json = Json::parse(bytes, nullptr, false);
    if (json.is_discarded())
      return bad_input(in_file(file), "is damaged: its JSON does not end as it should");
    return json;
  }
  auto pickle = read_pickle(std::move(bytes), k_most_json_values);
  if (!pickle) {
    pickle.error().place = in_file(file);
    return fail(pickle.error());
  }
  auto json = PickleAsJson(*pickle).value(pickle->root());
  if (!json) return nested_too_deeply(file);
  return *std::move(json);
}

}  // namespace

bool may_be_flight_dump(std::string_view begin) {
  if (begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5) return true;
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || begin[first] != '{') return false;
  return begin.find("\"collective_seq_id\"") != std::string_view::npos ||
         begin.find("\"pg_config\"") != std::string_view::npos;
}

Result<FlightDump> read_flight_dump(std::string bytes, const std::string& file) {
  SHARDLAB_TRY(const Json json, tree_of(std::move(bytes), file));
  const Json& entries = member(json, "entries");
  if (!entries.is_array())
    return bad_input(in_file(file), "is no dump of a flight recorder: it has no entries",
                     "give the files of TORCH_FR_DUMP_TEMP_FILE, one a rank");
  const auto rank = rank_of(file);
  if (!rank)
    return bad_input(in_file(file), "does not say whose it is: the name of a dump ends with its rank",
                     "as in nccl_trace_rank_0");
  FlightDump dump;
  dump.rank = *rank;
  dump.source = file;
  for (const Json& entry : entries) {
    if (member(entry, "is_p2p") != Json(true))
      dump.entries.push_back(entry_of(entry, member(json, "pg_status")));
  }
  dump.groups = groups_of(member(json, "pg_config"), dump);
  return dump;
}

}  // namespace shardlab
