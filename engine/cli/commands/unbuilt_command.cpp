#include <fmt/format.h>

#include "engine/cli/command.h"

namespace shardlab {
namespace {

class UnbuiltCommand final : public Command {
 public:
  UnbuiltCommand(std::string_view name, std::string_view help, std::string_view nearest)
      : name_(name),
        nearest_(fmt::format("nearest that works: {}", nearest)),
        help_(fmt::format("{} (not built yet; {})", help, nearest_)) {}

  std::string_view name() const override { return name_; }
  std::string_view help() const override { return help_; }
  CommonUse uses() const override { return {.database = true, .overrides = true}; }
  // Takes any arguments: what is not built has no options to be wrong about.
  void add_options(OptionParser& parser) override { parser.value("arguments", arguments_); }

  Result<int> run(CommandContext&) override {
    return not_possible("shardlab " + name_, "not built yet", nearest_);
  }

 private:
  std::string name_;
  std::string nearest_;
  std::string help_;
  std::vector<std::string> arguments_;
};

}  // namespace

std::unique_ptr<Command> make_unbuilt_command(std::string_view name, std::string_view help,
                                              std::string_view nearest) {
  return std::make_unique<UnbuiltCommand>(name, help, nearest);
}

}  // namespace shardlab
