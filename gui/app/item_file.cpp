#include "gui/app/item_file.h"

#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"

namespace shardlab::gui {
namespace {

nlohmann::json json_of(const ProbedItem& item) {
  return {{"window", item.window},
          {"label", item.label},
          {"box", {item.min.x, item.min.y, item.max.x, item.max.y}},
          {"disabled", item.disabled}};
}

}  // namespace

Status ItemFile::write(bool busy) {
  nlohmann::json items = nlohmann::json::array();
  for (const ProbedItem& item : probe_.items())
    if (item.visible && !item.label.empty()) items.push_back(json_of(item));
  // What somebody typed may be no text.
  const std::string text = nlohmann::json{{"busy", busy}, {"items", std::move(items)}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text == written_) return {};
  SHARDLAB_CHECK_OK(write_output_file(file_, text));
  written_ = text;
  return {};
}

}  // namespace shardlab::gui
