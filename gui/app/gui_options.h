// The command line of the window: `shardlab gui` hands its arguments on.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "engine/base/result.h"

namespace shardlab::gui {

struct GuiOptions {
  std::filesystem::path scenario;    // empty: none
  std::filesystem::path database;    // empty: the usual one
  std::filesystem::path screenshot;  // empty: a window
  std::string panel;                 // of the screenshot; empty: the whole window
  int width = 1440;
  int height = 900;
  std::string theme;   // empty: what the preferences say
  double scale = 0;    // 0: the preferences' or the monitor's
  std::string select;  // "12": this instruction is chosen, for pictures
  double played = 1;   // how much of it the step player shows as done, 0 to 1
  std::string runs;    // "r1,r2": these runs are chosen, for pictures
  std::string edit;    // "train.micro_batch=2": made against the prediction as a baseline, for pictures
  std::filesystem::path log;    // of a job, to be examined; empty: none
  std::string lesson;           // "3": this lesson is opened
  int lesson_step = 0;          // at this step; 0: where it was left
  std::filesystem::path items;  // kept up to date with where every widget is; empty: nowhere
  bool time_start = false;      // says how long the first frame took, and ends
};

// The options, or, for --help, the text to print. bad_input for an option that is unknown or has a bad value.
Result<std::variant<GuiOptions, std::string>> read_options(int argc, const char* const* argv);

}  // namespace shardlab::gui
