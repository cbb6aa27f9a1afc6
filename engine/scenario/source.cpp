#include "engine/scenario/source.h"

namespace shardlab {

Place ScenarioSource::place(std::string_view key) const {
  for (std::string_view section = key;;) {
    if (const auto place = places_.find(section); place != places_.end())
      return named(place->second, std::string(key));
    const std::size_t dot = section.rfind('.');
    if (dot == std::string_view::npos) return named(in_file(file_), std::string(key));
    section = section.substr(0, dot);
  }
}

std::string ScenarioSource::where(std::string_view key) const {
  return to_string(named(place(key), {}));
}

}  // namespace shardlab
