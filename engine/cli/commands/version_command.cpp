#include <nlohmann/json.hpp>

#include "engine/base/version.h"
#include "engine/cli/command.h"

namespace shardlab {
namespace {

class VersionCommand final : public Command {
 public:
  std::string_view name() const override { return "version"; }
  std::string_view help() const override { return "The version of the program"; }
  void add_options(OptionParser&) override {}

  Result<int> run(CommandContext& context) override {
    context.console.print("shardlab " + std::string(program_version()) + "\n");
    if (context.console.json()) context.console.print_json({{"version", program_version()}});
    return k_exit_good;
  }
};

}  // namespace

std::unique_ptr<Command> make_version_command() {
  return std::make_unique<VersionCommand>();
}

}  // namespace shardlab
