#include "engine/formats/axolotl/axolotl_program.h"

#include <utility>

#include "engine/formats/axolotl/axolotl_values.h"

namespace shardlab {
namespace {

// PEFT takes a text for a regular expression over the paths of modules.
bool is_expression(const ForeignValue& modules) {
  return modules.is_text() && modules.text.find_first_of("()[]|*+?^$\\") != std::string::npos;
}

// Without the key every parameter is trained, whatever is said of adapters.
void add_adapters(const ForeignValue& file, ForeignValue& own, ImportReading& reading) {
  if (given_value(file, "adapter") == nullptr && given_value(file, "lora_r") != nullptr)
    add_value(own, "adapter", value_in(file, "false"));
  const ForeignValue* const linear = given_value(file, "lora_target_linear");
  const ForeignValue* const modules = given_value(file, "lora_target_modules");
  if (modules != nullptr && is_expression(*modules))
    list_difference(reading, "lora_target_modules", DifferenceKind::lost, *modules,
                    "a scenario names layers, and by no expression", "all-linear");
  else if (is_true(linear))
    add_value(own, "lora_target_modules", foreign_text("all-linear", linear->place));
  else if (modules != nullptr)
    add_value(own, "lora_target_modules", *modules);
}

}  // namespace

void add_axolotl_program(const ForeignValue& file, ForeignValue& own, ImportReading& reading) {
  add_adapters(file, own, reading);
  // The scales are in few bits too, unless the file says otherwise.
  const ForeignValue* const twice = given_value(file, "bnb_config_kwargs.bnb_4bit_use_double_quant");
  if (is_true(given_value(file, "load_in_4bit")))
    add_value(own, "bnb_4bit_use_double_quant", twice != nullptr ? *twice : value_in(file, "true"));
  const ForeignValue* const length = given_value(file, "sequence_len");
  add_value(own, "sequence_len",
            length != nullptr ? *length : left_out(file, "sequence_len", "512", reading));
}

}  // namespace shardlab
