// Reads a Python pickle as data: numbers, texts, lists, tuples and dictionaries. Nothing is ever executed:
// what would import, call or build something (GLOBAL, REDUCE, BUILD ...) is refused by its name.
//
// Protocols 0 to 5. Memory is bounded, whatever lengths a file names: a file that has an instruction of the
// pickle's machine for fewer than two of its bytes, which no data have, is refused once these are many. There
// is no recursion, so nesting costs nothing; an object may contain itself. Equal texts are kept once, and
// what a taker takes not at all.
#pragma once

#include <cstddef>
#include <limits>

#include "engine/base/pickle/pickle_source.h"
#include "engine/base/pickle/pickle_taker.h"
#include "engine/base/pickle/pickle_tree.h"
#include "engine/base/result.h"

namespace shardlab {

// bad_input: not a whole pickle, one that would do something, or one of more than so many instructions. Its
// place has no file, which the caller knows, unless the source cannot be read on.
Result<PickleTree> read_pickle(PickleSource source,
                               std::size_t most_steps = std::numeric_limits<std::size_t>::max(),
                               PickleTaker* taker = nullptr);

}  // namespace shardlab
