#include "gui/view_model/memory/space_tables.h"

#include <fmt/format.h>

#include "engine/base/with_spaces.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

const std::vector<std::string> k_settings_of_offload = {"offload.parameters", "offload.optimizer"};

}  // namespace

std::string space_words(MemorySpace space) {
  return with_spaces(to_string(space));
}

bool leaves_the_device(const LoadedRun& run) {
  const RunSummary& summary = run.record.summary;
  return !summary.transfers.empty() || (summary.memory && summary.memory->spaces.size() > 1);
}

DataTable spaces_table(const LoadedRun& run) {
  DataTable table{"memory-spaces",
                  {{.title = "memory space", .numeric = false},
                   {.title = "between steps",
                    .unit = "bytes",
                    .meaning = {"bytes of the plan's buffers that are alive when a steady step begins",
                                "the plan", k_settings_of_offload}},
                   {.title = "at most",
                    .unit = "bytes",
                    .meaning = {"the highest over all steps, of the rank that needs most; spaces need not be "
                                "at their highest at one time",
                                source_of(run), k_settings_of_offload}}},
                  {}};
  if (!run.record.summary.memory) return table;
  for (const SpaceMemory& space : run.record.summary.memory->spaces) {
    Row row;
    row.key = static_cast<std::int64_t>(space.space);
    row.cells = {text_cell(space_words(space.space)), bytes_cell(space.between), bytes_cell(space.peak)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

DataTable transfers_table(const LoadedRun& run) {
  DataTable table{"transfers",
                  {{.title = "a rank moves in a step", .numeric = false},
                   {.title = "times",
                    .meaning = {"instructions that read in one space and write in another", "the plan",
                                k_settings_of_offload}},
                   {.title = "bytes",
                    .unit = "bytes",
                    .meaning = {"of all of them, as they arrive", "the plan", k_settings_of_offload}}},
                  {}};
  for (const TransferTotal& each : run.record.summary.transfers) {
    Row row;
    row.cells = {text_cell(fmt::format("{} to {}", space_words(each.from), space_words(each.to))),
                 count_cell(each.count), bytes_cell(each.bytes)};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace shardlab::view
