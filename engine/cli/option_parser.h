// The options and arguments of one command: what they are called, where their values go, and strict reading.
//
// A wall around CLI11, which costs every file that includes it two seconds of compilation: option_parser.cpp
// is the only one of the command line that does. Whatever an option is bound to must live as long as the
// parser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shardlab {

// One declared option, for saying more about it. A handle: copies speak of the same option, which the parser
// owns.
class OptionHandle {
 public:
  OptionHandle() = default;

  OptionHandle& type(const char* name);  // what --help calls its value: FILE, RUN ...
  OptionHandle& group(const char* title);
  OptionHandle& required();
  OptionHandle& count(int least, int most);  // values of a positional argument
  OptionHandle& repeatable();                // `--set a --set b`: one value each time, all are kept
  OptionHandle& positive();
  OptionHandle& not_negative();
  OptionHandle& range(int least, int most);
  OptionHandle& one_of(std::vector<std::string> words);
  OptionHandle& excludes(const OptionHandle& other);

  // Whether it stood among the arguments; after OptionParser::parse().
  bool given() const;

 private:
  friend class OptionParser;
  explicit OptionHandle(CLI::Option* option) : option_(option) {}

  CLI::Option* option_ = nullptr;
};

class OptionParser {
 public:
  // `program` is how the command is called ("shardlab plan"), `details` stands below the options in --help.
  OptionParser(std::string_view program, std::string_view help, std::string_view details);
  OptionParser(const OptionParser&) = delete;             // options are bound to variables
  OptionParser& operator=(const OptionParser&) = delete;  // likewise
  ~OptionParser();

  // "--name", "-n,--name", or "name" for an argument that is known by its position.
  OptionHandle flag(const char* names, bool& target, const char* help);
  OptionHandle value(const char* names, std::string& target, const char* help);
  OptionHandle value(const char* names, std::filesystem::path& target, const char* help);
  OptionHandle value(const char* names, int& target, const char* help);
  OptionHandle value(const char* names, std::int64_t& target, const char* help);
  OptionHandle value(const char* names, std::optional<std::size_t>& target, const char* help);
  OptionHandle value(const char* names, std::vector<std::string>& target, const char* help = "");

  // Reads the arguments into what the options are bound to. bad_input for an unknown option, with the nearest
  // known name, and for values that do not fit. Returns true when --help was asked for; help() is then the
  // text to print.
  Result<bool> parse(const std::vector<std::string>& arguments);
  std::string help() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace shardlab
