#include "engine/cli/option_parser.h"

#include <algorithm>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

bool is_option(std::string_view token) {
  return token.size() > 1 && token[0] == '-' && token != "--";
}

std::string_view option_name(std::string_view token) {
  return token.substr(0, token.find('='));
}

std::vector<std::string> known_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Before the library looks at anything, so that a misspelled option is not taken for a missing or surplus
// argument.
Status check_option_names(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = known_names(app);
  for (const std::string& token : arguments) {
    if (token == "--") break;
    if (!is_option(token)) continue;
    const bool is_long = token[1] == '-';
    const std::string name(is_long ? option_name(token) : std::string_view(token).substr(0, 2));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest_name(name, known);
    return bad_input(
        app.get_name(), "unknown option '" + name + "'",
        near ? "did you mean '" + *near + "'?" : "`" + app.get_name() + " --help` lists the options");
  }
  return {};
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = app.remaining();
    if (!rest.empty()) return "unexpected argument '" + rest.front() + "'";
  }
  return error.what();
}

}  // namespace

OptionHandle& OptionHandle::type(const char* name) {
  option_->type_name(name);
  return *this;
}

OptionHandle& OptionHandle::group(const char* title) {
  option_->group(title);
  return *this;
}

OptionHandle& OptionHandle::required() {
  option_->required();
  return *this;
}

OptionHandle& OptionHandle::count(int least, int most) {
  option_->expected(least, most);
  return *this;
}

OptionHandle& OptionHandle::repeatable() {
  option_->allow_extra_args(false)->take_all();
  return *this;
}

OptionHandle& OptionHandle::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

OptionHandle& OptionHandle::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

OptionHandle& OptionHandle::range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

OptionHandle& OptionHandle::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}

OptionHandle& OptionHandle::excludes(const OptionHandle& other) {
  option_->excludes(other.option_);
  return *this;
}

bool OptionHandle::given() const {
  return option_ != nullptr && option_->count() > 0;
}

OptionParser::OptionParser(std::string_view program, std::string_view help, std::string_view details)
    : app_(std::make_unique<CLI::App>(std::string(help), std::string(program))) {
  app_->footer(std::string(details));
}

OptionParser::~OptionParser() = default;

OptionHandle OptionParser::flag(const char* names, bool& target, const char* help) {
  return OptionHandle(app_->add_flag(names, target, help));
}

OptionHandle OptionParser::value(const char* names, std::string& target, const char* help) {
  return OptionHandle(app_->add_option(names, target, help));
}

OptionHandle OptionParser::value(const char* names, std::filesystem::path& target, const char* help) {
  return OptionHandle(app_->add_option(names, target, help));
}

OptionHandle OptionParser::value(const char* names, int& target, const char* help) {
  return OptionHandle(app_->add_option(names, target, help));
}

OptionHandle OptionParser::value(const char* names, std::int64_t& target, const char* help) {
  return OptionHandle(app_->add_option(names, target, help));
}

OptionHandle OptionParser::value(const char* names, std::optional<std::size_t>& target, const char* help) {
  return OptionHandle(app_->add_option(names, target, help));
}

OptionHandle OptionParser::value(const char* names, std::vector<std::string>& target, const char* help) {
  return OptionHandle(app_->add_option(names, target, help));
}

Result<bool> OptionParser::parse(const std::vector<std::string>& arguments) {
  SHARDLAB_CHECK_OK(check_option_names(*app_, arguments));
  try {
    app_->parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // the library wants them reversed
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    return bad_input(app_->get_name(), usage_problem(*app_, error),
                     "`" + app_->get_name() + " --help` shows how it is used");
  }
  return false;
}

std::string OptionParser::help() const {
  return app_->help();
}

}  // namespace shardlab
