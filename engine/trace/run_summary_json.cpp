#include "engine/trace/run_summary_json.h"

#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"
#include "engine/base/json_number.h"
#include "engine/trace/known_classes.h"
#include "engine/trace/run_figures.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
concept Struct = k_has_figures<T>;

template <typename T>
concept Kind = WordEnum<T>;

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

// What a name of a later version means here.
constexpr RunKind otherwise(RunKind) {
  return RunKind::predicted;
}
constexpr Fit otherwise(Fit) {
  return Fit::no;
}
constexpr Implementation otherwise(Implementation) {
  return Implementation::eager;
}
constexpr CompileScope otherwise(CompileScope) {
  return CompileScope::blocks;
}
constexpr OverheadPlace otherwise(OverheadPlace) {
  return OverheadPlace::device;
}
constexpr LifePhase otherwise(LifePhase) {
  return LifePhase::steady;
}
constexpr MemorySpace otherwise(MemorySpace) {
  return MemorySpace::device;
}
constexpr InstructionKind otherwise(InstructionKind) {
  return InstructionKind::Marker;
}

template <typename Index>
std::string key(std::size_t index) {
  return std::string(to_string(static_cast<Index>(index)));
}

// Writing. The order of a struct's fields is that of its rows.

template <Plain T>
Json json_of(const T& value) {
  return value;
}
template <Kind T>
Json json_of(T kind) {
  return to_string(kind);
}
template <typename Tag>
Json json_of(Quantity<Tag> quantity) {
  return quantity.value;
}
Json json_of(InstructionId id) {
  return id.value;
}

// Classes without bytes are left out; null where none is known.
Json json_of(const BytesByClass& by_class) {
  if (!knows_classes(by_class)) return nullptr;
  Json object = Json::object();
  for (std::size_t i = 0; i < by_class.size(); ++i) {
    if (by_class[i].value != 0) object[key<BufferClass>(i)] = by_class[i].value;
  }
  return object;
}
Json json_of(const std::array<Bytes, k_step_phases>& phases) {
  Json object = Json::object();
  for (std::size_t i = 0; i < phases.size(); ++i) object[key<StepPhase>(i)] = phases[i].value;
  return object;
}

template <Struct T>
Json json_of(const T& value);
template <typename T>
Json json_of(const std::vector<T>& values);
template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <typename T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

// A zero, or what is negative, of a figure where that stands for unknown.
Json null_if_unknown(const FigureFacts& facts, Json json) {
  const bool unknown = (facts.zero_is_unknown && json == 0) || (facts.negative_is_unknown && json < 0);
  return unknown ? Json(nullptr) : json;
}

// A peak whose height alone is known.
void leave_place_unknown(Json& memory) {
  for (const char* name : {"peak_instruction", "peak_label", "phases"}) memory[name] = nullptr;
}

template <Struct T>
Json json_of(const T& value) {
  Json object = Json::object();
  const auto add = [&](const auto& figure) {
    const auto& field = value.*figure.member;
    Json& json = object[std::string(figure.name)] = null_if_unknown(figure, json_of(field));
    if constexpr (std::is_same_v<decltype(field), const bool&>) {
      if (!figure.words[0].empty()) json = figure.words[field ? 1 : 0];
    }
  };
  std::apply([&](const auto&... figures) { (add(figures), ...); }, k_figures<T>);
  if constexpr (std::is_same_v<T, MemorySummary>)
    if (value.peak_label.empty() && value.phases == decltype(value.phases){}) leave_place_unknown(object);
  if constexpr (std::is_same_v<T, MemorySummary>)
    for (const PhaseMemory& phase : value.life)
      object["phases"][std::string(to_string(phase.phase))] = phase.device.value;
  // Nothing is sent where a group has one rank: that zero is known.
  if constexpr (std::is_same_v<T, CommunicationTotal>)
    if (value.bytes.value > 0) object["sent"] = value.sent.value;
  return object;
}

// Reading. Json's exceptions end in parse_summary_json().

template <Plain T>
void read(const Json& json, T& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    value = json_number<T>(json);
  else
    json.get_to(value);
}
template <Kind T>
void read(const Json& json, T& kind) {
  if constexpr (std::is_same_v<T, Fit>) {  // true and false in versions that knew nothing in between
    if (json.is_boolean()) {
      kind = json.get<bool>() ? Fit::yes : Fit::no;
      return;
    }
    if (json == "tight") {
      kind = Fit::unsure;
      return;
    }
  }
  kind = parse_word<T>(json.get<std::string>()).value_or(otherwise(kind));
}
template <typename Tag>
void read(const Json& json, Quantity<Tag>& quantity) {
  quantity.value = json_number<std::int64_t>(json);
}
void read(const Json& json, InstructionId& id) {
  id.value = json_number<std::uint32_t>(json);
}

void read(const Json& json, BytesByClass& by_class);
void read(const Json& json, std::array<Bytes, k_step_phases>& phases);
template <Struct T>
void read(const Json& json, T& value);
template <typename T>
void read(const Json& json, std::vector<T>& values);
template <typename T>
void read(const Json& json, std::optional<T>& value);

// Reads the field into `value` unless it is missing or null.
template <typename T>
void read_field(const Json& object, const std::string& name, T& value) {
  object.get_ref<const Json::object_t&>();  // throws unless it is one
  if (const auto field = object.find(name); field != object.end() && !field->is_null()) read(*field, value);
}

void read(const Json& json, BytesByClass& by_class) {
  for (std::size_t i = 0; i < by_class.size(); ++i) read_field(json, key<BufferClass>(i), by_class[i]);
}
void read(const Json& json, std::array<Bytes, k_step_phases>& phases) {
  for (std::size_t i = 0; i < phases.size(); ++i) read_field(json, key<StepPhase>(i), phases[i]);
}

template <typename T>
void read(const Json& json, std::optional<T>& value) {
  read(json, value.emplace());
}

template <typename T>
void read(const Json& json, std::vector<T>& values) {
  values.clear();
  for (const Json& each : json.get_ref<const Json::array_t&>()) read(each, values.emplace_back());
}

// What null stands for.
template <typename T>
requires std::is_arithmetic_v<T>
void set_unknown(const FigureFacts& facts, T& value) {
  if (facts.zero_is_unknown) value = 0;
  if (facts.negative_is_unknown) value = -1;
}
template <typename Tag>
void set_unknown(const FigureFacts& facts, Quantity<Tag>& quantity) {
  set_unknown(facts, quantity.value);
}

template <Struct T>
void read(const Json& json, T& value) {
  json.get_ref<const Json::object_t&>();
  const auto read_one = [&](const auto& figure) {
    auto& field = value.*figure.member;
    if constexpr (std::is_same_v<decltype(field), bool&>) {
      if (!figure.words[0].empty()) {
        std::string word;
        read_field(json, std::string(figure.name), word);
        field = word == figure.words[1];
        return;
      }
    }
    read_field(json, std::string(figure.name), field);
    if constexpr (requires { set_unknown(figure, field); }) {
      const auto found = json.find(std::string(figure.name));
      if (found != json.end() && found->is_null()) set_unknown(figure, field);
    }
  };
  std::apply([&](const auto&... figures) { (read_one(figures), ...); }, k_figures<T>);
}

}  // namespace

Json summary_json(const RunSummary& run) {
  return json_of(run);
}

void add_columns(Json& json, const RunEntry& entry) {
  visit_columns([&](const auto& row) {
    json[std::string(row.column)] = null_if_unknown(row, json_of(entry.*row.entry));
  });
}

Result<RunSummary> parse_summary_json(std::string_view text) {
  if (is_json_too_deep(text)) return bad_input("summary of a run", "is nested too deeply");
  if (has_too_many_members(text)) return bad_input("summary of a run", "has too many members");
  try {
    RunSummary run;
    read(Json::parse(text), run);
    return run;
  } catch (const Json::exception& error) {
    return bad_input("summary of a run", error.what());
  }
}

}  // namespace shardlab
