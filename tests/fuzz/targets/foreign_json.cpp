// JSON in both forms, and YAML as PyYAML reads it: what the strict form takes, the human one takes too.
#include "engine/formats/foreign/python_yaml.h"
#include "engine/formats/foreign/relaxed_json.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_foreign_values(std::string_view bytes) {
  const auto yaml = parse_python_yaml(bytes, "input.yaml");
  if (yaml) (void)shown(*yaml);
  const auto human = parse_foreign_json(bytes, "input.json", JsonForm::human);
  if (human) (void)as_yaml(*human);
  const auto strict = parse_foreign_json(bytes, "input.json", JsonForm::strict);
  if (!yaml) check_error(yaml.error());
  if (!human) check_error(human.error());
  if (!strict) return answer_of(strict);
  (void)shown(*strict);
  return Answer::taken;
}

}  // namespace shardlab::fuzz
