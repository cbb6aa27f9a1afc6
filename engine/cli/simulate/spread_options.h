// The options that say how far ranks are apart, for commands that predict all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/option_parser.h"
#include "simulator/spread/spread.h"

namespace shardlab {

class SpreadOptions {
 public:
  // --ranks, --seed, --spread and --slow. The parser keeps references to this.
  void add_to(OptionParser& parser);

  // The spread for that many ranks; nothing where one rank stands for all. Any of the other options means
  // --ranks all. Errors: those of set_spread and set_speed; one rank alone.
  Result<std::optional<Spread>> read(int ranks) const;

 private:
  std::string ranks_ = "one";
  std::int64_t seed_ = 0;
  std::vector<std::string> spread_, slow_;
  OptionHandle ranks_option_, seed_option_;
};

}  // namespace shardlab
