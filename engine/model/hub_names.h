// What the Hugging Face Hub calls the models that ship with the program (assets/models/hub.yaml).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// Whether a text has the form "owner/name" and nothing that only a path has.
bool may_be_hub_name(std::string_view text);

// The name in assets/models of what the Hub calls so; nothing where no such model ships. Upper and lower case
// do not matter. Errors, here and below: those of reading the file, of which a missing one is none.
Result<std::optional<std::string>> shipped_model(std::string_view hub_name);

// The Hub's own name of a model in assets/models; one of the Hub's names as the Hub spells it; nothing where
// it has none.
Result<std::optional<std::string>> hub_name_of(std::string_view model);

// The name in assets/models of what people call so without its owner: "Llama-3.3-70B-Instruct", "llama 3.1
// 8b". Case does not matter, nor blanks, `_` and `-`, nor a missing "-Instruct"; nothing where no such model
// ships.
Result<std::optional<std::string>> model_called(std::string_view name);

// What to do about a name of the Hub of which nothing ships: the nearest that does, and how to give the model
// itself.
std::string hint_for_hub_name(std::string_view name);

}  // namespace shardlab
