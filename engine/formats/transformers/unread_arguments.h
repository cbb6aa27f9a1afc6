// What becomes of TrainingArguments that no row of a table reads.
#pragma once

#include <string_view>

#include "engine/formats/tools/import_subject.h"
#include "engine/formats/tools/read_table.h"

namespace shardlab {

UnreadVerdict judge_unread_argument(const ImportSubject& subject, std::string_view key,
                                    const ForeignValue& value);

}  // namespace shardlab
