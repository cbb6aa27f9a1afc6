#include <nlohmann/json.hpp>

#include "engine/report/explain_memory/explained_memory.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json bytes_or_null(const std::optional<Bytes>& bytes) {
  return bytes ? Json(bytes->value) : Json(nullptr);
}

Json fit_or_null(const std::optional<Fit>& fits) {
  return fits ? Json(to_string(*fits)) : Json(nullptr);
}

Json sum_json(const MemorySum& sum) {
  Json lines = Json::array();
  for (const MemorySumLine& line : sum.lines)
    lines.push_back({{"name", line.name},
                     {"bytes", line.bytes.value},
                     {"role", to_string(line.role)},
                     {"note", line.note}});
  return {{"lines", std::move(lines)},
          {"limit", bytes_or_null(sum.limit)},
          {"margin", bytes_or_null(sum.margin)},
          {"fits", fit_or_null(sum.fits)}};
}

Json factors_json(const std::vector<Factor>& factors) {
  Json list = Json::array();
  for (const Factor& each : factors) list.push_back({{"value", each.value}, {"name", each.name}});
  return list;
}

Json part_json(const MemoryPart& part) {
  Json products = Json::array();
  for (const ByteProduct& each : part.formula)
    products.push_back({{"factors", factors_json(each.factors)}, {"divisors", factors_json(each.divisors)}});
  return {{"bytes", part.bytes().value},
          {"what", part.what},
          {"operator", part.made_by.empty() ? Json(nullptr) : Json(part.made_by)},
          {"formula", to_text(part.formula)},
          {"products", std::move(products)}};
}

Json row_json(const MemoryRow& row) {
  Json parts = Json::array();
  for (const MemoryPart& part : row.parts) parts.push_back(part_json(part));
  return {{"bytes", row.alive.bytes.value},
          {"what", row.alive.what},
          {"class", to_string(row.alive.buffer_class)},
          {"buffers", row.alive.buffers},
          {"since", row.alive.since_words},
          {"since_id", row.alive.since ? Json(row.alive.since->value) : Json(nullptr)},
          {"settings", row.settings},
          {"parts", std::move(parts)}};
}

Json saving_json(const MemorySaving& saving) {
  return {{"setting", saving.setting},
          {"effect", saving.effect},
          {"gain", saving.gain.value},
          {"peak_allocated", saving.peak_allocated.value},
          {"peak_device", bytes_or_null(saving.peak_device)},
          {"step_time_ns", saving.step_time.value},
          {"tokens_per_second", saving.tokens_per_second},
          {"fits", fit_or_null(saving.fits)},
          {"comparison", saving.comparison}};
}

Json tool_json(const ToolAnswer& answer) {
  return {{"tool", answer.tool},
          {"bytes", bytes_or_null(answer.bytes)},
          {"formula", answer.formula},
          {"source", answer.source}};
}

template <typename T, typename F>
Json list_of(const std::vector<T>& items, F to_json) {
  Json list = Json::array();
  for (const T& each : items) list.push_back(to_json(each));
  return list;
}

}  // namespace

Json explained_memory_json(const ExplainedMemory& memory) {
  return {{"scenario", memory.scenario},
          {"peak",
           {{"id", memory.peak_instruction.value},
            {"label", memory.peak_label},
            {"words", memory.peak_words},
            {"rank", memory.peak_rank}}},
          {"step_time_ns", memory.step_time.value},
          {"tokens_per_second", memory.tokens_per_second},
          {"sum", sum_json(memory.sum)},
          {"rows", list_of(memory.rows, row_json)},
          {"model_states", memory.model_states.value},
          {"settings", list_of(memory.savings, saving_json)},
          {"other_tools", list_of(memory.tools, tool_json)}};
}

}  // namespace shardlab
