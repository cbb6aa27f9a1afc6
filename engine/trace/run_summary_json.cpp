#include "engine/trace/run_summary_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/trace/run_entry.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::optional<Bytes>& value) {
  return value ? Json(value->value) : Json(nullptr);
}

Json classes_json(const BytesByClass& by_class) {
  Json object = Json::object();
  for (std::size_t i = 0; i < by_class.size(); ++i) {
    if (by_class[i].value != 0)
      object[std::string(to_string(static_cast<BufferClass>(i)))] = by_class[i].value;
  }
  return object;
}

Json teacher_json(const std::optional<TeacherMemory>& teacher) {
  if (!teacher) return nullptr;
  return {{"parameters", teacher->parameters.value},
          {"gathered", teacher->gathered.value},
          {"logits", teacher->logits.value}};
}

Json memory_json(const MemorySummary& memory) {
  Json phases = Json::object();
  for (std::size_t i = 0; i < k_step_phases; ++i) {
    phases[std::string(to_string(static_cast<StepPhase>(i)))] = memory.phases[i].value;
  }
  return {{"peak_allocated", memory.peak_allocated.value},
          {"peak_active", or_null(memory.peak_active)},
          {"peak_reserved", or_null(memory.peak_reserved)},
          {"peak_device", or_null(memory.peak_device)},
          {"by_class", classes_json(memory.by_class)},
          {"peak_instruction", memory.peak_instruction.value},
          {"peak_label", memory.peak_label},
          {"peak_rank", memory.peak_rank},
          {"peak_step", memory.peak_step},
          {"phases", phases},
          {"teacher", teacher_json(memory.teacher)}};
}

Json communication_json(const std::vector<CommunicationTotal>& totals) {
  Json list = Json::array();
  for (const CommunicationTotal& total : totals) {
    list.push_back({{"kind", to_string(total.kind)},
                    {"group_size", total.group_size},
                    {"count", total.count},
                    {"bytes", total.bytes.value},
                    {"sent", total.sent.value},
                    {"counted", or_null(total.counted)}});
  }
  return list;
}

Json volume_json(const std::optional<CommunicationVolume>& volume) {
  if (!volume) return nullptr;
  return {{"sent", volume->sent}, {"limit", or_null(volume->limit)}};
}

Json operators_json(const std::vector<OperatorTime>& operators) {
  Json list = Json::array();
  for (const OperatorTime& op : operators) {
    list.push_back({{"operation", op.operation},
                    {"direction", op.backward ? "backward" : "forward"},
                    {"calls", op.calls},
                    {"time_ns", op.time.value}});
  }
  return list;
}

// Reads a field into `value` unless it is missing or null.
template <typename T>
void read(const Json& object, const char* name, T& value) {
  object.get_ref<const Json::object_t&>();  // throws unless it is one
  if (const auto field = object.find(name); field != object.end() && !field->is_null())
    value = field->get<T>();
}
template <typename Tag>
void read(const Json& object, const char* name, Quantity<Tag>& quantity) {
  read(object, name, quantity.value);
}
template <typename T>
void read(const Json& object, const char* name, std::optional<T>& value) {
  const auto field = object.find(name);
  if (field == object.end() || field->is_null()) return;
  value.emplace();
  read(object, name, *value);
}

MemorySummary read_memory(const Json& json) {
  MemorySummary memory;
  read(json, "peak_allocated", memory.peak_allocated);
  read(json, "peak_active", memory.peak_active);
  read(json, "peak_reserved", memory.peak_reserved);
  read(json, "peak_device", memory.peak_device);
  const Json classes = json.value("by_class", Json::object());
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    read(classes, std::string(to_string(static_cast<BufferClass>(i))).c_str(), memory.by_class[i]);
  }
  read(json, "peak_instruction", memory.peak_instruction.value);
  read(json, "peak_label", memory.peak_label);
  read(json, "peak_rank", memory.peak_rank);
  read(json, "peak_step", memory.peak_step);
  const Json phases = json.value("phases", Json::object());
  for (std::size_t i = 0; i < k_step_phases; ++i) {
    read(phases, std::string(to_string(static_cast<StepPhase>(i))).c_str(), memory.phases[i]);
  }
  if (const auto teacher = json.find("teacher"); teacher != json.end() && !teacher->is_null()) {
    memory.teacher.emplace();
    read(*teacher, "parameters", memory.teacher->parameters);
    read(*teacher, "gathered", memory.teacher->gathered);
    read(*teacher, "logits", memory.teacher->logits);
  }
  return memory;
}

CommunicationTotal read_communication(const Json& json) {
  CommunicationTotal total;
  std::string kind;
  read(json, "kind", kind);
  total.kind = parse_word<InstructionKind>(kind).value_or(InstructionKind::Marker);
  read(json, "group_size", total.group_size);
  read(json, "count", total.count);
  read(json, "bytes", total.bytes);
  read(json, "sent", total.sent);
  read(json, "counted", total.counted);
  return total;
}

OperatorTime read_operator(const Json& json) {
  OperatorTime op;
  std::string direction;
  read(json, "operation", op.operation);
  read(json, "direction", direction);
  op.backward = direction == "backward";
  read(json, "calls", op.calls);
  read(json, "time_ns", op.time);
  return op;
}

RunSummary read_summary(const Json& json) {
  RunSummary run;
  std::string kind;
  read(json, "kind", kind);
  run.kind = parse_run_kind(kind).value_or(RunKind::predicted);
  read(json, "plan_hash", run.plan_hash);
  read(json, "ranks", run.ranks);
  const Json time = json.value("step_time_ns", Json::object());
  read(time, "median", run.step_time.median);
  read(time, "min", run.step_time.min);
  read(time, "max", run.step_time.max);
  read(time, "n", run.step_time.n);
  read(json, "tokens_per_second", run.tokens_per_second);
  read(json, "tokens_per_second_per_gpu", run.tokens_per_second_per_gpu);
  read(json, "mfu", run.mfu);
  read(json, "exposed_communication_ns", run.exposed_communication);
  for (const Json& total : json.value("communication", Json::array()))
    run.communication.push_back(read_communication(total));
  if (const auto volume = json.find("volume"); volume != json.end() && !volume->is_null()) {
    run.volume.emplace();
    read(*volume, "sent", run.volume->sent);
    read(*volume, "limit", run.volume->limit);
  }
  read(json, "skipped_steps", run.skipped_steps);
  if (const auto memory = json.find("memory"); memory != json.end() && !memory->is_null())
    run.memory = read_memory(*memory);
  read(json, "memory_limit", run.memory_limit);
  read(json, "fits", run.fits);
  read(json, "ended_by", run.ended_by);
  for (const Json& op : json.value("operators", Json::array())) run.operators.push_back(read_operator(op));
  read(json, "losses", run.losses);
  read(json, "gradient_norms", run.gradient_norms);
  read(json, "calibrated", run.calibrated);
  read(json, "leaves_out", run.leaves_out);
  return run;
}

}  // namespace

Json summary_json(const RunSummary& run) {
  return {{"kind", to_string(run.kind)},
          {"plan_hash", run.plan_hash},
          {"ranks", run.ranks},
          {"step_time_ns",
           {{"median", run.step_time.median.value},
            {"min", run.step_time.min.value},
            {"max", run.step_time.max.value},
            {"n", run.step_time.n}}},
          {"tokens_per_second", run.tokens_per_second},
          {"tokens_per_second_per_gpu", run.tokens_per_second_per_gpu},
          {"mfu", or_null(run.mfu)},
          {"exposed_communication_ns", run.exposed_communication.value},
          {"communication", communication_json(run.communication)},
          {"volume", volume_json(run.volume)},
          {"skipped_steps", run.skipped_steps},
          {"memory", run.memory ? memory_json(*run.memory) : Json(nullptr)},
          {"memory_limit", or_null(run.memory_limit)},
          {"fits", or_null(run.fits)},
          {"ended_by", or_null(run.ended_by)},
          {"operators", operators_json(run.operators)},
          {"losses", run.losses},
          {"gradient_norms", run.gradient_norms},
          {"calibrated", run.calibrated},
          {"leaves_out", run.leaves_out}};
}

Result<RunSummary> parse_summary_json(std::string_view text) {
  try {
    return read_summary(Json::parse(text));
  } catch (const Json::exception& error) {
    return bad_input("summary of a run", error.what());
  }
}

}  // namespace shardlab
