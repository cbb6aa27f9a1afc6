#include "engine/scenario/source.h"

namespace shardlab {

std::string ScenarioSource::where(std::string_view key) const {
  for (;;) {
    if (const auto place = places_.find(key); place != places_.end()) return place->second;
    const std::size_t dot = key.rfind('.');
    if (dot == std::string_view::npos) return file_;
    key = key.substr(0, dot);
  }
}

}  // namespace shardlab
