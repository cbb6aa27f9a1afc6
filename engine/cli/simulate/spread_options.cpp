#include "engine/cli/simulate/spread_options.h"

namespace shardlab {

void SpreadOptions::add_to(OptionParser& parser) {
  constexpr const char* k_group = "Ranks that differ";
  ranks_option_ =
      parser.value("--ranks", ranks_, "one that stands for all, or all: each at its own speed [one]")
          .type("one|all")
          .one_of({"one", "all"})
          .group(k_group);
  parser.value("--spread", spread_, "How far apart: gpus, kernels, collectives or hosts; may be repeated")
      .type("NAME=PERCENT")
      .repeatable()
      .group(k_group);
  parser.value("--slow", slow_, "One rank's device at this speed; may be repeated")
      .type("RANK=PERCENT")
      .repeatable()
      .group(k_group);
  seed_option_ = parser.value("--seed", seed_, "Of what is drawn [0]").not_negative().group(k_group);
}

Result<std::optional<Spread>> SpreadOptions::read(int ranks) const {
  const bool described = !spread_.empty() || !slow_.empty() || seed_option_.given();
  if (ranks_ == "one") {
    if (ranks_option_.given() && described)
      return bad_input("--ranks", "one rank cannot differ",
                       "say --ranks all, or leave out the other options");
    if (!described) return std::optional<Spread>();
  }
  if (ranks < 2) return bad_input("--ranks", "there is one rank only, which waits for nobody");
  SHARDLAB_TRY(Spread spread, read_spread());
  spread.seed = seed_;
  for (const std::string& text : spread_) SHARDLAB_CHECK_OK(set_spread(spread, text, "--spread"));
  for (const std::string& text : slow_) SHARDLAB_CHECK_OK(set_speed(spread, text, ranks, "--slow"));
  return std::optional<Spread>(spread);
}

}  // namespace shardlab
