// References within a file as OmegaConf has them: ${key.path} stands for the value at that key.
//
// Source: OmegaConf 2.3, its grammar of interpolations; of resolvers (${oc.env:HOME}), relative and nested
// references nothing is read, and these texts stay as they are.
#pragma once

#include "engine/base/result.h"
#include "engine/formats/foreign/check_keys.h"
#include "engine/formats/foreign/foreign_value.h"

namespace shardlab {

// Puts the values in the place of the references, and adds a warning where there is one: not every program
// resolves them. Errors are bad_input: a key that is not there, references in a circle, or what they make
// grows without end.
Status resolve_references(ForeignValue& root, std::vector<ForeignWarning>& warnings);

}  // namespace shardlab
