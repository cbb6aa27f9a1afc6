// The settings of a scenario as a form: every key of the tables that read scenarios, with its control, help
// and present value.
//
// What is shown comes from the text as it stands, so the form works while the scenario has mistakes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/text_place.h"
#include "engine/base/yaml.h"

namespace shardlab::gui {

enum class FieldControl : std::uint8_t { toggle, choice, integer, text };

struct FormField {
  std::string key;     // "parallel.mesh.shard"
  std::string label;   // below its section: "mesh.shard"
  std::string type;    // as docs/scenario.md: "integer", "size" ...
  std::string values;  // allowed values or range; may be empty
  std::string default_text;
  std::string help;
  std::string unsupported;  // which values are refused as not built, and the nearest that works; may be empty
  std::string condition_key;  // of the same section or one around it; empty: the field always applies
  std::vector<std::string> condition_values;
  FieldControl control = FieldControl::text;
  std::vector<std::string>
      choices;             // of a choice; of a text: words and names that are known, others may be typed
  std::int64_t least = 0;  // of an integer
  bool common = false;     // one that people change often
};

struct FormSection {
  std::string name;  // "parallel"; "scenario" for the keys above all sections
  std::vector<FormField> fields;
};

// All keys that a form can hold, in the order of docs/scenario.md; made once.
const std::vector<FormSection>& form_sections();

struct FieldState {
  std::optional<std::string> given;  // as written
  std::string key;                   // where it is written, or would be: "parallel.wrap" of "wrap: none"
  bool applies = true;               // the condition is met, or the field is given
  std::string problem;               // what is wrong with it; may be empty

  const std::string& shown(const FormField& field) const { return given ? *given : field.default_text; }
};

// One line of what is wrong with a scenario.
struct ProblemLine {
  std::string text;
  std::string hint;
  std::string key;                 // of the setting; may be empty
  std::optional<TextPlace> place;  // in the text
};

// An error of reading, planning or simulating, a line for each of its parts; `file` is the name of the text.
std::vector<ProblemLine> problem_lines(const Error& error, std::string_view file);

// `root` is the tree of the text; `problems` are matched to fields by their key or their place.
FieldState field_state(const FormField& field, const YamlNode& root,
                       const std::vector<ProblemLine>& problems);

// What a person typed as YAML: texts that would read as something else are put in quotes.
std::string as_yaml(const FormField& field, std::string_view typed);

}  // namespace shardlab::gui
