#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/paths.h"
#include "engine/cli/command.h"

namespace shardlab {
namespace {

// A program of its own, so that the command line links no graphics library and starts in milliseconds.
class GuiCommand final : public Command {
 public:
  std::string_view name() const override { return "gui"; }
  std::string_view help() const override { return "The desktop window: explore, watch, compare"; }
  CommonUse uses() const override { return {.database = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("scenario", scenario_, "Scenario file").type("FILE");
    parser.value("--screenshot", screenshot_, "Write a picture (PNG) instead; needs no display").type("FILE");
    parser.value("--panel", panel_, "Only this panel in the picture").type("NAME");
    parser.value("--size", size_, "Of the picture or window in pixels [1440x900]").type("WxH");
    parser.value("--theme", theme_, "dark or light");
    parser.value("--scale", scale_, "Of text and lines [the monitor's]");
    parser.value("--select", select_, "Choose the instruction of this number").type("N");
    parser.value("--played", played_, "How much of it the step player shows as done, 0 to 1 [1]")
        .type("SHARE");
    parser.value("--edit", edit_, "Keep the prediction as the baseline, then make this setting")
        .type("KEY=VALUE");
    parser.value("--log", log_, "Examine this log of a job").type("FILE");
    parser.value("--lesson", lesson_, "Open this lesson: its number, a part of its name, a folder")
        .type("LESSON");
    parser.value("--lesson-step", lesson_step_, "At this step [where it was left]").type("N");
    parser.value("--runs", runs_, "Choose these runs, separated by commas").type("RUNS");
  }

  Result<int> run(CommandContext& context) override {
    if (context.console.json())
      return bad_input("--json", "a window has no document to print",
                       "--screenshot FILE writes a picture of it; what it shows the other commands print");
    const std::filesystem::path program = program_folder() / "shardlab-gui";
    std::error_code error;
    if (!std::filesystem::exists(program, error)) {
      return not_possible(in_file(program.string()), "this shardlab was built without the window",
                          "install libglfw3-dev and build again; cmake says what else is missing");
    }
    std::vector<std::string> arguments{program.string()};
    const auto add = [&](const char* option, const std::string& value) {
      if (!value.empty()) arguments.insert(arguments.end(), {option, value});
    };
    add("--db", context.options.database);
    add("--screenshot", screenshot_);
    add("--panel", panel_);
    add("--size", size_);
    add("--theme", theme_);
    add("--scale", scale_);
    add("--select", select_);
    add("--played", played_);
    add("--edit", edit_);
    add("--log", log_);
    add("--lesson", lesson_);
    add("--lesson-step", lesson_step_);
    add("--runs", runs_);
    if (!scenario_.empty()) arguments.insert(arguments.end(), {"--", scenario_});
    return become(arguments);
  }

 private:
  static Result<int> become(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    execv(pointers.front(), pointers.data());
    return not_possible(arguments.front(), std::string("cannot be started: ") + std::strerror(errno));
  }

  std::string scenario_, screenshot_, panel_, size_, theme_, scale_, select_, played_, edit_, runs_, log_;
  std::string lesson_, lesson_step_;
};

}  // namespace

std::unique_ptr<Command> make_gui_command() {
  return std::make_unique<GuiCommand>();
}

}  // namespace shardlab
