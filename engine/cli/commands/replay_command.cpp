#include <nlohmann/json.hpp>

#include "engine/base/parse.h"
#include "engine/cli/command.h"
#include "engine/cli/replay/replay_report.h"
#include "simulator/memory/replay/replay.h"

namespace shardlab {
namespace {

class ReplayCommand final : public Command {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view help() const override {
    return "A recorded memory history under other allocator options or another limit";
  }
  std::string_view details() const override {
    return "FILE is what torch.cuda.memory._dump_snapshot() wrote (read as data, nothing in it is run), or\n"
           "{\"ops\": [[\"m\", \"a\", 1048576], [\"f\", \"a\"]]} (docs/allocator.md).\n"
           "TEXT is as in PYTORCH_ALLOC_CONF: expandable_segments:True, max_split_size_mb:128";
  }

  void add_options(OptionParser& parser) override {
    parser.value("file", file_, "The recording").type("FILE").required();
    conf_given_ = parser.value("--conf", conf_, "Options of the allocator [the recording's]").type("TEXT");
    parser.value("--limit", limit_, "What the device has for it: 79.2GiB [the recording's]").type("SIZE");
    device_given_ =
        parser.value("--device", device_, "Whose history, where a snapshot has several").not_negative();
  }

  Result<int> run(CommandContext& context) override {
    ReplaySettings settings;
    if (conf_given_.given()) settings.options = conf_;
    if (!limit_.empty()) {
      const auto limit = parse_bytes(limit_);
      if (!limit || limit->value <= 0)
        return bad_input("--limit", limit ? "no memory at all" : limit.error().what);
      settings.limit = *limit;
    }
    auto recording =
        read_recording_file(file_, device_given_.given() ? std::optional(device_) : std::nullopt);
    if (!recording) return fail(within(std::move(recording).error()));
    SHARDLAB_TRY(const ReplayOutcome outcome, replay(*recording, settings));
    if (context.console.json())
      context.console.print_json(replay_json(file_, outcome));
    else
      context.console.print(replay_text(file_, outcome, context.console.style()));
    return k_exit_good;
  }

 private:
  // What is wrong with the file has a place in it; what is wrong with an option has none.
  Error within(Error error) const {
    if (!error.place.name.starts_with("--")) error.place.file = file_;
    return error;
  }

  std::string file_, conf_, limit_;
  int device_ = 0;
  OptionHandle conf_given_, device_given_;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() {
  return std::make_unique<ReplayCommand>();
}

}  // namespace shardlab
