#include "gui/view_model/metric_meaning.h"

#include "engine/trace/figure_rows.h"

namespace shardlab::view {

std::optional<Meaning> metric_meaning(std::string_view metric) {
  const FigureRow* const row = find_figure(metric);
  if (row == nullptr) return std::nullopt;
  const FigureFacts& facts = row->facts;
  const bool is_column = facts.column == metric && !facts.column_meaning.empty();
  Meaning meaning{std::string(is_column ? facts.column_meaning : facts.meaning), "docs/glossary.md", {}};
  for (const std::string_view key : facts.settings) {
    if (!key.empty()) meaning.settings.emplace_back(key);
  }
  return meaning;
}

}  // namespace shardlab::view
