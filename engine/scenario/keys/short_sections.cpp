#include "engine/scenario/keys/short_sections.h"

#include <algorithm>

#include "engine/scenario/keys/sections.h"

namespace shardlab {

std::string short_key_of(std::string_view path) {
  const KeyTable* table = &scenario_keys().table();
  for (;;) {
    const std::size_t dot = path.find('.');
    const auto row = std::find_if(table->rows.begin(), table->rows.end(),
                                  [&](const KeyRow& each) { return each.name == path.substr(0, dot); });
    if (row == table->rows.end()) return {};
    if (dot == std::string_view::npos) return row->short_key;
    if (!row->table) return {};
    table = &row->table();
    path.remove_prefix(dot + 1);
  }
}

}  // namespace shardlab
