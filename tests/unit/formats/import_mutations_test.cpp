// Whatever becomes of a file, reading it ends with a scenario's settings or an error that says where.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "engine/formats/imports/import_case.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

constexpr int k_changed_files = 30'000;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Sample {
  std::string name, text;
};

std::vector<Sample> samples(const std::string& folder) {
  std::vector<Sample> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::data_file(folder))) {
    const std::string name = entry.path().filename().string();
    const bool is_answer =
        name.ends_with(".expected") || name.ends_with(".scenario.yaml") || name.ends_with(".warnings");
    if (entry.is_regular_file() && !is_answer) all.push_back({name, text_of(entry.path())});
  }
  return all;
}

class Changer {
 public:
  explicit Changer(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::string changed(std::string text, const std::string& other) {
    static constexpr std::string_view k_pieces[] = {"{",     "}",     "[",
                                                    "]",     "\"",    ":",
                                                    ",",     "\n",    "  ",
                                                    "auto",  "null",  "true",
                                                    "-1",    "1e999", "3",
                                                    "#",     "//",    "/*",
                                                    "'''",   "$(",    "${A:-",
                                                    "`",     "\\",    "--",
                                                    "&a ",   "*a",    "\t",
                                                    "\x01",  "\xff",  "fsdp_",
                                                    "stage", "none",  "999999999999999999999"};
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      const std::size_t length = below(std::min<std::size_t>(40, text.size() - at) + 1);
      switch (below(5)) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, k_pieces[below(std::size(k_pieces))]); break;
        case 2: text.insert(at, text.substr(at, length)); break;
        case 3: text.replace(at, length, other.substr(below(other.size() + 1), below(40))); break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(below(256));
      }
    }
    return text;
  }

 private:
  std::minstd_rand random_;
};

TEST_CASE("imports: tens of thousands of changed files neither crash nor hang") {
  const auto onto = read_unbuilt_scenario(test::data_file("imports/base.yaml"));
  REQUIRE(onto);
  const ImportContext context{&onto->scenario, 4096, "LlamaDecoderLayer", {}};
  const std::vector<Sample> good = samples("imports/good");
  const std::vector<Sample> all = samples("imports");
  REQUIRE(all.size() > 100);
  Changer changer(20);
  int read = 0, refused = 0;
  for (int i = 0; i < k_changed_files; ++i) {
    const Sample& sample = i % 3 == 0 ? all[changer.below(all.size())] : good[changer.below(good.size())];
    const std::string text = changer.changed(sample.text, all[changer.below(all.size())].text);
    auto file = parse_foreign_file(text, "changed/" + sample.name);
    if (!file) {
      REQUIRE(file.error().kind == ErrorKind::bad_input);
      ++refused;
      continue;
    }
    std::vector<ForeignFile> files;
    files.push_back(*std::move(file));
    const auto reading = import_case(std::move(files), context);
    if (!reading) {
      REQUIRE(reading.error().kind == ErrorKind::bad_input);
      REQUIRE((!where_text(reading.error()).empty() || !reading.error().parts.empty()));
    }
    reading ? ++read : ++refused;
  }
  INFO(read << " read, " << refused << " refused");
  CHECK(read > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("imports: depth and size are bounded") {
  for (const char* open : {"{\"a\":", "{a: ", "[", "a: [", "'''", "/*", "$(", "\""}) {
    std::string text = "{";
    while (text.size() < 200'000) text += open;
    CAPTURE(open);
    CHECK(!parse_foreign_file(text, "deep.json"));
    std::string script = "#!/bin/bash\ntorchrun ";
    while (script.size() < 200'000) script += open;
    std::vector<ForeignFile> files;
    auto file = parse_foreign_file(script, "deep.sh");
    if (!file) continue;
    files.push_back(*std::move(file));
    (void)import_case(std::move(files), {});
  }
}

}  // namespace
}  // namespace shardlab
