// Where a figure of a hardware description comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace shardlab {

struct FigureSource {
  std::string kind;    // vendor, measured, vendor-measured, vendor-derived, vendor-code, derived, recalled,
                       // estimate, market
  std::string source;  // page, repository and file, or plain words
};

using FigureSources = std::map<std::string, FigureSource>;

// The figures nobody measured or published, by key.
std::vector<std::string> estimated_figures(const FigureSources& provenance);

}  // namespace shardlab
