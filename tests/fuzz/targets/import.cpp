// A file of another tool, up to the settings of a scenario.
#include "engine/formats/imports/import_case.h"
#include "engine/scenario/read_scenario.h"
#include "tests/fuzz/base_scenario.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_foreign_text(std::string_view bytes) {
  static const Result<ReadScenario> onto = parse_scenario_with_source(k_base_scenario, "onto.yaml");
  promise(onto.has_value(), "the scenario that files are put onto can be read");
  // Named without a folder, so that files which it names are not there.
  Result<ForeignFile> file = parse_foreign_file(std::string(bytes), "input");
  if (!file) return answer_of(file);
  std::vector<ForeignFile> files;
  files.push_back(*std::move(file));
  return answer_of(import_case(std::move(files), {&onto->scenario, 4096, "LlamaDecoderLayer", {}}));
}

}  // namespace shardlab::fuzz
