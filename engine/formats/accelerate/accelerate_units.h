// The units that accelerate makes, which are not always those that its file names.
#pragma once

#include <optional>
#include <string>

#include "engine/formats/tools/export_subject.h"
#include "engine/model/wrap/wrap_spec.h"

namespace shardlab {

// `parallel.wrap` of what runs, in one line; nothing where it is as the scenario says. Under FSDP2 the
// embedding is a unit of its own, and the last norm and the head are one together that is not given back
// after forward; a tied embedding is one with them. Source: accelerate 1.15.0, utils/fsdp_utils.py,
// fsdp2_prepare_model and _find_final_norm.
//
// Where Trainer trains adapters, peft's policy takes the place of the file's: under FSDP1 what is trained is
// units beside the layers; FSDP2 in accelerate does not know that policy, so that no layer is a unit, and it
// finds no norm in the model that peft puts around. Source: transformers 5.23.0, distributed/fsdp.py
// update_fsdp_plugin_peft; peft 0.21.2, utils/other.py fsdp_auto_wrap_policy; accelerate
// fsdp2_prepare_auto_wrap_policy.
std::optional<std::string> accelerate_wrap(const ExportSubject& subject);

// Whether Trainer trains adapters.
bool has_units_of_peft(const ExportSubject& subject);

// The policy that the file names: of units as accelerate makes them the one that it makes them of.
WrapSpec named_policy(const ExportSubject& subject);

// Whether the scenario's own units can be said at all: what is made for single modules cannot.
bool asks_for_single_units(const ExportSubject& subject);

}  // namespace shardlab
