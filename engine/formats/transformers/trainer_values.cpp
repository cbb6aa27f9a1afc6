#include "engine/formats/transformers/trainer_values.h"

#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/fsdp_words.h"

namespace shardlab {

ToolValue wrapped_class_list(const ExportSubject& subject) {
  const std::vector<std::string> wrapped = wrapped_classes(subject);
  return wrapped.empty() ? ToolValue() : ToolValue(wrapped);
}

ToolValue least_wrapped_parameters(const ExportSubject& subject) {
  return wraps_by_size(subject) ? ToolValue(least_parameters(subject)) : nullptr;
}

bool checkpoints_outside_fsdp(const ExportSubject& subject) {
  return !is_fsdp(subject) && checkpoints_layers(subject);
}

}  // namespace shardlab
