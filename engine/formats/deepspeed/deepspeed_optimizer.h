// The optimizer and the schedule that DeepSpeed makes, which exports leave to the program.
#pragma once

#include "engine/formats/tools/import_subject.h"

namespace shardlab {

void read_deepspeed_optimizer(const ImportSubject& subject, ImportReading& reading);
void read_deepspeed_schedule(const ImportSubject& subject, ImportReading& reading);

}  // namespace shardlab
