// docs/formats.md, written from the tables that the exports use.
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/tools/export_target.h"

namespace shardlab {
namespace {

constexpr std::string_view k_introduction = R"(# Files of other tools

This page is generated from the tables by which `shardlab export` writes and `shardlab import` reads (`engine/formats`, and the tools' own
keys in `assets/formats`); `shardlab export --document` prints it.

## Writing

`shardlab export S --to TARGET` writes a scenario as the files of another tool, by what the named version does. A setting that the file
cannot say is a **difference** of one of three kinds:

- *lost*: the scenario asks for something that the file cannot say. Nothing is written and the exit code is 1, unless `--accept KEY` takes it;
- *added*: the tool does something that the scenario does not ask for;
- *elsewhere*: the program decides, or the shell; the line is shown.

What the files really run is the scenario with its lost and added settings replaced. It is predicted beside the scenario itself, as a whole
and with each setting alone; a setting that is not built yet is left out and named. `tests/peers/export_loaders.py` reads what is written
with the tools' own loaders and compares what is in effect with that scenario; `tests/peers/launched_exports.py` starts programs with it by
the real `accelerate launch` and compares their units and collectives with its plan.

## Reading

`shardlab import FILE... [--onto S] [-o SCENARIO]` makes a scenario of accelerate's file, DeepSpeed's JSON, TrainingArguments (JSON, YAML at the
root or below a key, or the arguments of a command line), Axolotl's YAML and of scripts that start ranks with torchrun, `accelerate launch` or
`deepspeed`, alone or under sbatch, with `llamafactory-cli`, `axolotl`, `swift` or `trl`, or one rank with python. Kinds are found by content; several files are one case; a
file that one of them names is looked for where the tool looks, in the working directory, and then, with a warning, beside the file that names it
and in the folders above that one. Scripts are read, never executed: variables, arrays, `$(( ))`, here-documents, Slurm's variables and what `pwd`,
`expr` and `dirname "$0"` print are followed, other words stay open. Of several commands that start ranks `run.sh:12` is the one in line 12.

- `--onto S` says what the files do not: model, cluster, data, and whatever the tool leaves to the program. Without it `--set` does, and
  what nobody says is asked for by name. A model that ships and that the files call as the Hub does (`model_name_or_path`, `base_model`) is taken
  where neither names one.
- **Every key and value is known, refused or warned of.** Refused with file, line, column and the nearest name is what the tool refuses, and a
  slip of the pen where it would say nothing: a misspelt key in `fsdp_config`, text where a number belongs, a class that the model lacks, two
  sharding systems, one key twice, batch sizes or meshes whose product does not hold, `--nproc_per_node` after the program's name. A key that
  the tool ignores without a word, and that is no slip, is a warning, and what runs is the file without it; so is what the tool converts
  (`"true"` in quotes under ZeRO, and in the keys of `fsdp_config` that go through the environment). The lists of keys are compared with the tools themselves (`tests/peers/tool_keys.py`).
- **Arguments of the program's own** stand beside TrainingArguments in most files and commands. A table says what those of programs that many
  use mean (`assets/formats/programs.yaml`): `max_seq_length` and its like are `model.sequence_length`, `lora_r` and its like `model.lora`,
  `load_in_4bit` is `model.quantized`; data and logs are *elsewhere*, preference losses or tensor parallelism *lost*. Others are listed as the
  program's own. What ms-swift, LLaMA-Factory and TRL take in place of the Trainer's defaults, and which adapters they train unasked, is warned of;
  ms-swift's `--deepspeed zero2` and `--fsdp fsdp2` are the files that it brings (`assets/formats/presets.yaml`), and `--fsdp FILE.json`, or the
  text of one, is read as it reads it. Layers of adapters that a program leaves to peft are `peft-default`. A command of these three is the
  Trainer's, and another is taken for it where it says `per_device_train_batch_size`, or `output_dir` beside an argument that programs with a loop of their own do not have: else the
  Trainer's defaults say nothing of it.
- Axolotl's file is known by `base_model` beside keys of its own, and read as what Axolotl 0.18 makes of it: TrainingArguments with its own
  defaults (a cosine schedule, one sequence a micro-batch), weights in bfloat16 for `bf16: auto` (in float32 where FSDP trains all of
  them), adapters only where `adapter` asks for them. Kernels of its own, its preference losses and its parallelism within a layer or a sequence are *lost*.
- What a script exports to the ranks' libraries (NCCL, torch, CUDA, OpenMP, libfabric ...) is `launch.env`; other variables that it exports
  are listed, and one that it sets and does not export is warned of. So is `CUDA_LAUNCH_BLOCKING` and its like, which slow every step down.
- References within a YAML file (`${model.name}`) are the values that they name, as OmegaConf resolves them, with a warning that the Trainer's own
  parser does not; one that names no key, or leads back to itself, is refused. `$ref` is followed by none of the tools, and refused.
- Names of older versions (`evaluation_strategy`, `adamw_hf`) are read as what they are called since, with a warning, and numbers that YAML reads
  as text (`1e-5`) as the numbers that they are. An option given twice counts as the last one; its unique beginning counts where the tool takes it.
- A key that the tool knows and a scenario has no counterpart for is a *lost* difference, or *elsewhere* where no step depends on it. What
  the file leaves out is the tool's default, listed with it. `"auto"` is what accelerate or the Trainer put in its place, shown; a section `bf16` or
  `fp16` that DeepSpeed's file leaves out accelerate adds where TrainingArguments or `mixed_precision` ask for it.
- What the tool does unasked follows from the rules below, applied to what was read: under FSDP `mixed_precision: bf16` stores parameters in
  float32, computes, reduces and keeps buffers in bfloat16, and turns autocast on.
- Lines that are legal and do something else are warned of with what will run. `SHARD_GRAD_OP` by the resharding key alone under version 1 runs
  FULL_SHARD; prefetch left out is none; `full_shard` of transformers 4.x without `auto_wrap` is one unit; version 2 ignores keys of version 1;
  srun starts a launcher for every task, where `--ntasks-per-node` is not 1.
- `fsdp` with words is the form of transformers 4.x and read as 4.57.6 runs it, unless `fsdp_config` says a version; else version 5 is meant.
- DeepSpeed's own loader takes the human form of JSON (comments, texts without quotes); accelerate and the Trainer read plain JSON, so a
  file that they name must be that.

What comes back from an export is the scenario but for the differences that the export lists, and an imported file settles at once
(`tests/cli/import_round_trips.py`). `tests/peers/import_loaders.py` draws files, many with a mistake: what import accepts the tools' own loaders
accept, with the same values in effect.
)";

// A pipe would end the cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

// The key in the tool's own lists, in a section of a section for a dotted one; null where there is none.
const KnownKey* known_key(const KnownKeys& tool, const ToolTable& table, std::string_view dotted) {
  const KnownSection* section = &tool.section(table.section.empty() ? "root" : table.section);
  while (true) {
    const std::size_t dot = dotted.find('.');
    const KnownKey* const key = section->find(dotted.substr(0, dot));
    if (key == nullptr || dot == std::string_view::npos) return key;
    section = nullptr;
    for (const KnownType& type : key->types) {
      if (type.kind == KnownType::Kind::section) section = &tool.section(type.section);
    }
    if (section == nullptr) return nullptr;
    dotted.remove_prefix(dot + 1);
  }
}

std::string values_of(std::string_view target, const ToolTable& table, const ToolKey& key) {
  const auto tool = known_keys(target);
  const KnownKey* const known = tool ? known_key(**tool, table, key.key) : nullptr;
  return known == nullptr ? std::string() : cell(expected(*known));
}

std::string keys_of(const ExportTarget& target, const ToolTable& table) {
  const std::string where = table.section.empty() ? "" : fmt::format(" in `{}`", table.section);
  std::string text =
      fmt::format("\n| Key{} | Values | Says | Where it is left out |\n| --- | --- | --- | --- |\n", where);
  for (const ToolKey& key : table.keys)
    text += fmt::format("| {} | {} | {} | {} |\n", code(key.key), values_of(target.name, table, key),
                        code(key.setting), cell(key.absent));
  return text;
}

std::string rules_of(const ExportTarget& target) {
  std::string rows;
  std::vector<std::string> elsewhere;
  for (const auto& rules : target.rules) {
    for (const SettingRule& rule : rules) {
      if (rule.instead == nullptr) continue;
      if (rule.kind == DifferenceKind::elsewhere) {
        elsewhere.push_back(code(rule.setting));
      } else {
        rows += fmt::format("| {} | {} | {} |\n", code(rule.setting), to_string(rule.kind), cell(rule.why));
      }
    }
  }
  std::string text;
  if (!rows.empty()) text += "\n| Not said | Kind | Why |\n| --- | --- | --- |\n" + rows;
  if (!elsewhere.empty()) text += fmt::format("\nElsewhere: {}.\n", fmt::join(elsewhere, ",\n"));
  return text;
}

}  // namespace

std::string export_reference() {
  std::string text(k_introduction);
  for (const ExportTarget& target : export_targets()) {
    text += fmt::format("\n## {}\n\nOf version {}: {}.\n", target.name, target.version, target.help);
    for (const ToolTable& table : target.keys) {
      const bool is_lent = target.keys.size() > 1 && table.keys.data() == deepspeed_keys().data();
      text += is_lent ? "\nUnder ZeRO, the keys of [deepspeed](#deepspeed) in a file of their own.\n"
                      : keys_of(target, table);
    }
    text += rules_of(target);
  }
  return text;
}

}  // namespace shardlab
