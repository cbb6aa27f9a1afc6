// Lines come whole, whatever pieces the file is read in, and none is longer than it may be.
#include "engine/base/text/input_lines.h"

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr FileKind k_lines{"list", std::int64_t{1} << 20};
constexpr std::size_t k_longest = 100'000;

struct Lines {
  std::vector<std::string> lines;
  bool was_ended = false;  // the last of them
  std::optional<Error> error;
};

Lines lines_of(const fs::path& file) {
  Lines all;
  auto lines = InputLines::open(file, k_lines, k_longest);
  if (!lines) {
    all.error = lines.error();
    return all;
  }
  for (std::string line;;) {
    const auto found = lines->next(line);
    if (!found) all.error = found.error();
    if (!found || !*found) return all;
    all.lines.push_back(line);
    all.was_ended = lines->was_ended();
    CHECK(lines->number() == static_cast<int>(all.lines.size()));
  }
}

Lines lines_in(const std::string& text) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "list", std::ios::binary) << text;
  return lines_of(folder.path() / "list");
}

}  // namespace

TEST_CASE("input lines: what stands between line feeds, and whether the last has one") {
  CHECK(lines_in("").lines.empty());
  CHECK(lines_in("a").lines == std::vector<std::string>{"a"});
  CHECK_FALSE(lines_in("a").was_ended);
  CHECK(lines_in("a\n").lines == std::vector<std::string>{"a"});
  CHECK(lines_in("a\n").was_ended);
  CHECK(lines_in("\n\nb").lines == std::vector<std::string>{"", "", "b"});
  CHECK(lines_in(std::string("a\0b\r\n", 5)).lines == std::vector<std::string>{std::string("a\0b\r", 4)});
}

TEST_CASE("input lines: lines that lie across the pieces of a file are whole") {
  for (const std::size_t length : {65'535U, 65'536U, 65'537U, 99'999U, 100'000U}) {
    INFO(length);
    const std::string first(length, 'x'), second(length, 'y');
    const Lines found = lines_in(first + "\n" + second + "\nend");
    REQUIRE_FALSE(found.error);
    CHECK(found.lines == std::vector<std::string>{first, second, "end"});
  }
}

TEST_CASE("input lines: a line that is too long is an error with its number, and is not kept") {
  const Lines found = lines_in("a\n" + std::string(k_longest + 1, 'x') + "\n");
  CHECK(found.lines == std::vector<std::string>{"a"});
  REQUIRE(found.error);
  CHECK(found.error->place.line == 2);
  CHECK_THAT(found.error->what, test::contains_text("is a line of more than"));
}

TEST_CASE("input lines: only ordinary files, of a size that such a file has") {
  const test::TemporaryFolder folder;
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(lines_of(folder.path() / "pipe").error->what == "is a pipe, not a list");
  CHECK(lines_of("/dev/zero").error->what == "is a device, not a list");
  CHECK(lines_of(folder.path()).error->what == "is a folder, not a list");
  CHECK(lines_of("/proc/self/mem").error->code == ErrorCode::unreadable);
  std::ofstream(folder.path() / "large").close();
  fs::resize_file(folder.path() / "large", (1 << 20) + 1);
  CHECK(lines_of(folder.path() / "large").error->what == "is larger than 1.00 MiB, not a list");
}

}  // namespace shardlab
