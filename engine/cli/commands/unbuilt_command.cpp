#include "engine/cli/command.h"

namespace shardlab {
namespace {

class UnbuiltCommand final : public Command {
 public:
  UnbuiltCommand(std::string_view name, std::string_view help)
      : name_(name), help_(std::string(help) + " (not built yet)") {}

  std::string_view name() const override { return name_; }
  std::string_view help() const override { return help_; }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }
  // Takes any arguments: what is not built has no options to be wrong about.
  void add_options(OptionParser& parser) override { parser.value("arguments", arguments_); }

  Result<int> run(CommandContext&) override {
    return not_possible("shardlab " + name_, "not built yet",
                        "`shardlab --help` lists the commands that are");
  }

 private:
  std::string name_;
  std::string help_;
  std::vector<std::string> arguments_;
};

}  // namespace

std::unique_ptr<Command> make_unbuilt_command(std::string_view name, std::string_view help) {
  return std::make_unique<UnbuiltCommand>(name, help);
}

}  // namespace shardlab
