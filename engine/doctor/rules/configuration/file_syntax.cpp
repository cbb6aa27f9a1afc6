// How values are written in a file.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule trainer_reads_json() {
  return {
      .id = "configuration/trainer-reads-json",
      .codes = {"B-18"},
      .title = "Trainer reads JSON",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "transformers/training_args.py",
      .message = "The file given as fsdp_config is not JSON.",
      .explanation = "Trainer parses JSON; the launcher of accelerate reads YAML.",
      .fix = {.kind = FixKind::command, .text = "write the JSON file: shardlab export S --to transformers"},
      .example =
          "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0), in training_args.py",
      .signs =
          {
              {.pattern = "jsondecodeerror", .certainty = 60, .frame = "training_args"},
              {.pattern = "jsondecodeerror", .certainty = 58, .frame = "fsdp_config"},
              {.pattern = "jsondecodeerror", .certainty = 40},
              {.pattern = "expecting value: line 1 column 1 (char 0)", .certainty = 42},
              {.pattern = "expected a string path to an existing deepspeed config", .certainty = 60},
              {.pattern = "expected*existing*json*", .certainty = 60},
          },
      .faults = {{.code = ErrorCode::another_format}},
  };
}

Rule threshold_is_text() {
  return {
      .id = "configuration/threshold-is-text",
      .codes = {"X-03"},
      .title = "a number in the file is a text",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "PyYAML's resolver",
      .message = "A number in exponent form was read as a text.",
      .explanation = "YAML 1.1 needs a point and a sign in an exponent; without them it is a string.",
      .fix = {.kind = FixKind::settings, .text = "write an integer: 100000000"},
      .example = "TypeError: '>=' not supported between instances of 'int' and 'str'",
      .signs =
          {
              {.pattern = "not supported between instances of 'int' and 'str'", .certainty = 80},
              {.pattern = "not supported between instances of 'str' and 'int'", .certainty = 78},
              {.pattern = "not supported between instances of 'float' and 'str'", .certainty = 72},
              {.pattern = "not supported between instances of 'str' and 'float'", .certainty = 74},
              {.pattern = "input should be a valid integer*input_type=str", .certainty = 78},
              {.pattern = "input should be a valid number*input_type=str", .certainty = 78},
              {.pattern = "value is not a valid integer", .certainty = 74},
              {.pattern = "value is not a valid float", .certainty = 74},
              {.pattern = "must be real number, not str", .certainty = 74},
              {.pattern = "invalid literal for int() with base 10: '*e", .certainty = 82},
          },
      .faults = {{.code = ErrorCode::number_is_text}},
  };
}

}  // namespace

std::vector<Rule> configuration_file_syntax_rules() {
  return {trainer_reads_json(), threshold_is_text()};
}

}  // namespace shardlab
