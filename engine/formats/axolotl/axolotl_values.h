// Values of Axolotl's file taken and given on. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// At a dotted key; null where there is none, or null stands there, which is the same to Axolotl.
const ForeignValue* given_value(const ForeignValue& file, std::string_view key);

// At the end of the map, with the value's own place.
void add_value(ForeignValue& map, std::string key, ForeignValue value);

// A value that the file does not say, as JSON writes it; its place is the file.
ForeignValue value_in(const ForeignValue& file, std::string_view text);

// The same for what Axolotl takes where the file leaves the key out, with a warning.
ForeignValue left_out(const ForeignValue& file, std::string_view key, std::string_view text,
                      ImportReading& reading);

// A setting that the value of the file's key says.
void put_setting(ImportReading& reading, std::string setting, std::string text, std::string_view key,
                 const ForeignValue& value, std::string note = {});

void list_difference(ImportReading& reading, std::string_view key, DifferenceKind kind,
                     const ForeignValue& value, std::string why, std::string scenario = {});

}  // namespace shardlab
