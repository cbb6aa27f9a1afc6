// Lines of transformers' Trainer. Private to this folder.
//
// Source: transformers/trainer_callback.py (ProgressCallback.on_log, PrinterCallback), trainer.py
// (_maybe_log_save_evaluate, log), trainer_utils.py (speed_metrics, TrainerMemoryTracker), versions 4 and 5.
// `loss` is the mean over the steps since the line before and over ranks. `train_runtime` are the seconds
// since the training began: in the last line of the whole training, with include_num_input_tokens_seen in
// every one.
#pragma once

#include <optional>
#include <string_view>

#include "engine/formats/logs/line_figures.h"

namespace shardlab {

// One figure of the Trainer by its name there; unknown names are passed over.
void add_trainer_figure(std::string_view name, double value, LineFigures& figures);

// Where `{'loss': 2.1, 'grad_norm': 1.4, 'learning_rate': 1e-05, 'epoch': 0.01}` stands in the line, with
// whatever stands before it; and what the Trainer says before it begins (`Total train batch size ... = 64`).
std::optional<LineFigures> trainer_figures(std::string_view line);

}  // namespace shardlab
