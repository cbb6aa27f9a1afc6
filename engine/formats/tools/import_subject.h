// The files of one case, checked, and what the scenario they are put onto says: what reading a key may ask.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/foreign/check_keys.h"
#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/setting_rule.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Where ranks run, as far as a launch script or an accelerate file says it.
struct ImportedRanks {
  std::optional<std::int64_t> nodes, per_node;
};

struct ImportSubject {
  // With the tools' own names (check_keys.h); null: there is no such file.
  const ForeignValue* accelerate = nullptr;
  const ForeignValue* deepspeed = nullptr;
  const ForeignValue* trainer = nullptr;
  const ForeignValue* command = nullptr;  // options of `accelerate launch`, which go before its file
  bool trainer_is_4 = false;              // the 4.x form of TrainingArguments
  bool has_program = false;      // with arguments of its own, and so perhaps with defaults of its own
  bool calls_deepspeed = false;  // the program does, not the Trainer

  const Scenario* onto = nullptr;           // null: there is none
  std::optional<std::int64_t> ranks;        // of all nodes
  std::optional<std::int64_t> hidden_size;  // of the model
  std::string layer_class;                  // of the model; empty: not known

  // Values at dotted keys; null where there is none.
  const ForeignValue* in_accelerate(std::string_view key) const;
  const ForeignValue* in_deepspeed(std::string_view key) const;
  const ForeignValue* in_trainer(std::string_view key) const;
};

// What of a file a scenario does not say, or says otherwise.
struct ImportDifference {
  std::string key;  // of the file, or of the scenario where the tool does it unasked
  DifferenceKind kind;
  std::string file;      // what the file says; empty: nothing
  std::string scenario;  // what the scenario says instead
  std::string why;
  Place place;
};

struct ImportedSetting {
  enum class Origin : std::uint8_t {
    said,     // by a file
    filled,   // "auto", by what accelerate or the Trainer fill in
    assumed,  // the tool's default, as the file leaves the key out
    seen,     // in a trace
    guessed,  // of a trace that shows several alike
  };
  std::string key;     // of docs/scenario.md
  YamlNode value;      // its place is that in the file
  bool is_set = true;  // false: the scenario leaves the key out
  Origin origin = Origin::said;
  std::string from;  // key of the file
  std::string note;
};
template <>
inline constexpr auto k_words<ImportedSetting::Origin> =
    std::to_array<Word<ImportedSetting::Origin>>({{ImportedSetting::Origin::said, "said"},
                                                  {ImportedSetting::Origin::filled, "auto"},
                                                  {ImportedSetting::Origin::assumed, "default"},
                                                  {ImportedSetting::Origin::seen, "seen"},
                                                  {ImportedSetting::Origin::guessed, "guessed"}});

struct ImportedFormat {
  std::string format;   // "deepspeed"
  std::string version;  // "0.19.8"
  std::string file;
};

// All that the files of a case say.
struct ImportReading {
  std::vector<ImportedFormat> formats;
  std::vector<std::string> dropped;  // keys and sections of --onto that the files replace
  std::vector<ImportedSetting> settings;
  std::vector<ImportDifference> differences;
  std::vector<ForeignWarning> warnings;
  std::string target;                // the export target whose rules say what else runs; empty: a launcher's
  std::vector<std::string> settled;  // settings that the program decides otherwise than those rules
  bool by_trainer = false;           // transformers' Trainer runs it

  const ImportedSetting* find(std::string_view key) const;
  void set(ImportedSetting setting);  // in place of one of the same key
};

}  // namespace shardlab
