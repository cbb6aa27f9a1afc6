// Which strategies there are, one line each, in the order in which they are listed everywhere.
//
// BUILT(name): a folder of that name, or of its family, beside this file defines k_name_facts (what the
// scenario's checks ask, see engine/scenario/strategy_facts.h) and k_name_strategy (its schedule,
// engine/strategies/strategy.h). KNOWN(name): a scenario may name it and is told that it is not supported
// yet; there are facts alone.
#pragma once

#define SHARDLAB_STRATEGIES(BUILT, KNOWN) \
  BUILT(none)                             \
  BUILT(ddp)                              \
  BUILT(fsdp1)                            \
  BUILT(fsdp2)                            \
  BUILT(zero0)                            \
  BUILT(zero1)                            \
  BUILT(zero2)                            \
  BUILT(zero3)                            \
  BUILT(native)
