#include "engine/cli/command_line.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "engine/base/limits/no_memory.h"
#include "engine/base/nearest.h"
#include "engine/base/units.h"
#include "engine/base/write_all.h"
#include "engine/cli/command.h"
#include "engine/cli/commands/meant_command.h"

namespace shardlab {
namespace {

using Arguments = std::vector<std::string>;
using Commands = std::vector<std::unique_ptr<Command>>;

bool contains(const Arguments& arguments, std::string_view token) {
  return std::find(arguments.begin(), std::find(arguments.begin(), arguments.end(), "--"), token) !=
         std::find(arguments.begin(), arguments.end(), "--");
}

std::string overview(const Commands& commands) {
  std::string text =
      "shardlab plans, predicts, runs and compares training steps of sharded models.\n\n"
      "Usage: shardlab COMMAND [arguments] [options]\n\nCommands:\n";
  for (const auto& command : commands)
    text += fmt::format("  {:<10}  {}\n", command->name(), command->help());
  return text +
         "\n`shardlab COMMAND --help` shows the options of a command. Common to all: --json, --quiet, "
         "--verbose;\n"
         "where they apply: --db FILE, --set KEY=VALUE.\n"
         "Start with: shardlab validate scenarios/first/tiny-llama.yaml\n";
}

// The command is the first word that is neither an option nor the value of a common one. Takes it out of
// `arguments`.
Result<std::string> take_command_name(Arguments& arguments, const Commands& commands) {
  for (auto token = arguments.begin(); token != arguments.end(); ++token) {
    if (!token->empty() && token->front() == '-') {
      if (common_option_takes_value(*token) && token + 1 != arguments.end()) ++token;
      continue;
    }
    std::string name = *token;
    arguments.erase(token);
    return name;
  }
  if (arguments.empty() || contains(arguments, "--json")) {
    return bad_input("shardlab", "no command given", "`shardlab --help` lists the commands");
  }
  std::vector<std::string> known;
  for (const auto& command : commands) known.emplace_back(command->name());
  return bad_input("shardlab", "unknown option '" + arguments.front() + "'",
                   "a command comes first: " + suggestion("", known));
}

Result<Command*> find_command(const Commands& commands, const std::string& name) {
  for (const auto& command : commands) {
    if (command->name() == name) return command.get();
  }
  return bad_input("shardlab", "unknown command '" + name + "'", hint_for_command(name, commands));
}

Result<int> run_one(Command& command, const Arguments& arguments, Console& error_console) {
  OptionParser parser("shardlab " + std::string(command.name()), command.help(), command.details());
  CommonOptions options;
  command.add_options(parser);
  add_common_options(parser, command.uses(), options);
  SHARDLAB_TRY(const bool help, parser.parse(arguments));

  Console console(options.json && !help, options.quiet, options.verbose);
  console.set_events(options.progress == "json");
  error_console = console;
  if (help) console.print(parser.help());
  CommandContext context{options, console};
  const Result<int> code = help ? Result<int>(k_exit_good) : command.run(context);
  error_console = console;  // whether stdout still works is known there
  if (!code) return code;
  SHARDLAB_CHECK_OK(console.finish());
  return code;
}

// `doing` becomes the command as it is written.
Result<int> dispatch(Arguments arguments, Console& console, std::string& doing) {
  const Commands commands = make_commands();
  if (arguments.empty()) {
    console.print(overview(commands));
    return bad_input("shardlab", "no command given", "the list above shows them");
  }
  if (arguments.front() == "--help" || arguments.front() == "-h" || arguments.front() == "help") {
    Console(false, false, false).print(overview(commands));
    return k_exit_good;
  }
  if (arguments.front() == "--version") arguments.front() = "version";
  SHARDLAB_TRY(const std::string name, take_command_name(arguments, commands));
  SHARDLAB_TRY(Command * command, find_command(commands, name));
  doing += ' ' + name;
  return run_one(*command, arguments, console);
}

int report(const Error& error, Console& console) {
  console.print_error(error);
  return exit_code(error.kind);
}

int report_defect(const char* what, Console& console) {
  return report(
      Error{ErrorKind::internal, "shardlab", what, "this is a defect of shardlab: please report it"},
      console);
}

// What was in use before everything that was under way was given back.
Bytes most_memory() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? kibibytes(usage.ru_maxrss) : Bytes{};
}

// `hint`: what makes what needed it smaller; empty where nobody knows.
int report_out_of_memory(const std::string& doing, std::string_view missing, std::string hint,
                         Console& console) {
  if (!hint.empty()) hint += ", ";
  return report(Error{ErrorKind::not_possible, doing,
                      fmt::format("this process gets {}; it had {}", missing, to_string(most_memory())),
                      hint + "free some, or raise the limit of the process or of its container"},
                console);
}

// Everything that may be thrown while a command runs, as an error of its kind.
int run_and_report(const Arguments& arguments) {
  Console console(contains(arguments, "--json"), false, false);
  std::string doing = "shardlab";
  try {
    const Result<int> code = dispatch(arguments, console, doing);
    return code ? *code : report(code.error(), console);
  } catch (const NoMemory& missing) {
    return report_out_of_memory(doing, missing.what(), missing.hint(), console);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory(doing, NoMemory::k_missing, "", console);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again)
      return report_defect(error.what(), console);
    return report(Error{ErrorKind::not_possible, "shardlab", "this process gets no more threads",
                        "raise the limit of processes (ulimit -u) or of the container"},
                  console);
  } catch (const std::exception& exception) {
    return report_defect(exception.what(), console);
  } catch (...) {
    return report_defect("unknown exception", console);
  }
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) noexcept {
  // A reader that goes away or a limit on file sizes must not kill a parent of running ranks: both are failed
  // writes.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run_and_report(arguments);
  } catch (...) {
    return report_no_memory();
  }
}

int report_no_memory() noexcept {
  write_all(STDERR_FILENO, "error: shardlab: this process gets no more memory\n");
  return exit_code(ErrorKind::not_possible);
}

}  // namespace shardlab
