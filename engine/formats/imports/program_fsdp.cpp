#include "engine/formats/imports/program_fsdp.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/formats/foreign/relaxed_json.h"
#include "engine/formats/imports/named_file.h"
#include "engine/formats/imports/program_presets.h"
#include "engine/scenario/parallel_words.h"

namespace shardlab {
namespace {

constexpr FileKind k_section_file{"configuration", std::size_t{256} << 10};
constexpr std::string_view k_swift = "swift", k_section = "fsdp_config",
                           k_whole_words = "full_shard auto_wrap";

auto entry_of(ForeignValue& arguments, std::string_view key) {
  return std::find_if(arguments.entries.begin(), arguments.entries.end(),
                      [&](const ForeignEntry& entry) { return key.compare(entry.key) == 0; });
}

void put_section(ForeignValue& arguments, ForeignEntry section, const std::string& named,
                 ImportReading& reading) {
  const auto checkpoints = entry_of(arguments, "gradient_checkpointing");
  if (checkpoints != arguments.entries.end() && is_true(&checkpoints->value) &&
      is_true(section.value.find("activation_checkpointing"))) {
    reading.warnings.push_back(
        {checkpoints->value.place,
         fmt::format("gradient_checkpointing gives way to activation_checkpointing of {}", named),
         "--gradient_checkpointing false says the same"});
    arguments.entries.erase(checkpoints);
  }
  arguments.entries.push_back(std::move(section));
}

bool is_json(std::string_view text) {
  return text.starts_with("{") || text.ends_with(".json");
}

Result<ForeignValue> parsed(const ForeignValue& named, ImportReading& reading) {
  if (named.text.starts_with("{")) return parse_foreign_json(named.text, named.place.file, JsonForm::strict);
  const auto path = find_named_file(named.text, named, reading);
  if (!path)
    return bad_input(named.place, fmt::format("names {}, and there is no such file", named.text),
                     "write its path from here");
  SHARDLAB_TRY(const std::string text, read_input_file(*path, k_section_file));
  return parse_foreign_json(text, path->string(), JsonForm::strict);
}

// Keys of the file that begin with an underscore explain the others.
void warn_of_unread(const ForeignValue& file, ImportReading& reading) {
  for (const ForeignEntry& entry : file.entries) {
    if (entry.key == "fsdp" || entry.key == k_section || entry.key.starts_with("_")) continue;
    reading.warnings.push_back({entry.place, fmt::format("ms-swift does not read '{}' here", entry.key),
                                "it reads fsdp and fsdp_config"});
  }
}

bool has(const ForeignValue& section, const std::string& key) {
  return section.find(key) != nullptr || section.find("fsdp_" + key) != nullptr;
}

void add_unless_said(ForeignValue& section, const std::string& key, ForeignValue value) {
  if (!section.is_map() || has(section, key)) return;
  value.place = section.place;
  section.entries.push_back({key, section.place, std::move(value)});
}

// The words of `fsdp` in the keys that version 5 has for them; ms-swift runs version 2 where nothing says
// one.
void add_words(ForeignValue& section, const std::string& words) {
  const std::string spaced = " " + words + " ";
  const auto has_word = [&](std::string_view word) {
    return spaced.find(fmt::format(" {} ", word)) != std::string::npos;
  };
  const auto scalar = [](std::string_view text) { return json_scalar(text).value_or(ForeignValue{}); };
  if (!has(section, "version")) add_unless_said(section, "version", scalar("2"));
  const ForeignValue* const version =
      section.find("version") != nullptr ? section.find("version") : section.find("fsdp_version");
  const bool is_first = version != nullptr && version->is_integer() && version->integer == 1;
  for (const auto& [sharding, word] : k_words<Fsdp1Sharding>) {
    if (!has_word(word)) continue;
    if (is_first) add_unless_said(section, "reshard_after_forward", foreign_text(std::string(word), {}));
    if (!is_first && sharding == Fsdp1Sharding::shard_grad_op)
      add_unless_said(section, "reshard_after_forward", scalar("false"));
  }
  if (has_word("offload")) add_unless_said(section, "cpu_offload", scalar("true"));
}

Status join_file(ForeignValue& arguments, ImportReading& reading) {
  const ForeignValue named = entry_of(arguments, "fsdp")->value;
  SHARDLAB_TRY(const ForeignValue file, parsed(named, reading));
  warn_of_unread(file, reading);
  const ForeignValue* const words = file.find("fsdp");
  const ForeignValue* const section = file.find(k_section);
  ForeignEntry made{std::string(k_section), named.place,
                    section != nullptr ? *section : foreign_map(named.place)};
  add_words(made.value, words != nullptr ? words->text : std::string(k_whole_words));
  ForeignValue on = json_scalar("true").value_or(ForeignValue{});
  on.place = named.place;
  entry_of(arguments, "fsdp")->value = std::move(on);
  std::erase_if(arguments.entries, [](const ForeignEntry& entry) { return entry.key == k_section; });
  put_section(arguments, std::move(made), named.text.starts_with("{") ? "its text" : named.text, reading);
  return {};
}

}  // namespace

Status join_program_fsdp(const std::string& program, ForeignValue& arguments, ImportReading& reading) {
  const auto fsdp = entry_of(arguments, "fsdp");
  if (fsdp == arguments.entries.end() || !fsdp->value.is_text()) return {};
  if (std::optional<ForeignValue> config = fsdp_preset(fsdp->value)) {
    if (entry_of(arguments, k_section) != arguments.entries.end()) return {};
    const Place place = fsdp->value.place;
    const std::string word = fsdp->value.text;
    fsdp->value = json_scalar("true").value_or(ForeignValue{});
    fsdp->value.place = place;
    put_section(arguments, {std::string(k_section), place, *std::move(config)}, word, reading);
    return {};
  }
  return k_swift.compare(program) == 0 && is_json(fsdp->value.text) ? join_file(arguments, reading)
                                                                    : Status();
}

}  // namespace shardlab
