// What may reach a terminal, and what is seen in its place.
#include "engine/base/text/printable.h"

#include <random>

#include "engine/base/text/colours.h"
#include "engine/base/text/utf8.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// A code point in the bytes that its size asks for.
std::string encoded(char32_t point) {
  const auto last = [&](unsigned shift) { return static_cast<char>(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0 | point >> 6), last(0)};
  if (point < 0x10000) return {static_cast<char>(0xe0 | point >> 12), last(6), last(0)};
  return {static_cast<char>(0xf0 | point >> 18), last(12), last(6), last(0)};
}

}  // namespace

TEST_CASE("printable: text is as it was") {
  for (const char* text : {"", "plain\n\ttext", "\u00e4\u2588\u4e2d\U0001f600", "C:\\u001b", "a\\x1b"}) {
    CHECK(printable(text) == text);
    CHECK(is_printable(text));
  }
}

TEST_CASE("printable: what a terminal would obey is seen, and so are bytes that are no text") {
  CHECK(printable("\x1b]0;title\a") == "\\u001b]0;title\\u0007");
  CHECK(printable("a\rb\x7f") == "a\\u000db\\u007f");
  CHECK(printable(std::string_view("\0x", 2)) == "\\u0000x");
  CHECK(printable("\u009b31m \u0080") == "\\u009b31m \\u0080");
  CHECK(printable("\u00a0") == "\u00a0");
  CHECK(printable("caf\xe9") == "caf\\xe9");
  CHECK(printable("\x9b"
                  "31m") == "\\x9b31m");
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xc0\x9b\xf5") == "\\xc0\\x9b\\xf5");           // overlong, and beyond the last
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // likewise
}

TEST_CASE("printable: colours of our own are kept where they are wanted, and no other sequence") {
  const std::string ours = std::string(colours::k_red) + "bad" + std::string(colours::k_off);
  CHECK(printable(ours, Colours::kept) == ours);
  CHECK(is_printable(ours, Colours::kept));
  CHECK_FALSE(is_printable(ours));
  CHECK(printable(ours) == "\\u001b[31mbad\\u001b[0m");
  CHECK(printable("\x1b[2J" + ours, Colours::kept) == "\\u001b[2J" + ours);
  CHECK(printable("\x1b[8m\x1b[", Colours::kept) == "\\u001b[8m\\u001b[");
}

TEST_CASE("printable: whatever the bytes are, the result is harmless text and stays as it is") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> byte(0, 255), length(0, 40);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(static_cast<std::size_t>(length(random)), '\0');
    for (char& c : text) c = static_cast<char>(byte(random));
    for (const Colours colours : {Colours::shown, Colours::kept}) {
      const std::string shown = printable(text, colours);
      if (is_printable(shown, colours) && printable(shown, colours) == shown) continue;
      FAIL("the result is not printable");
    }
  }
}

TEST_CASE("utf8: every character has its length, and what is cut off or in its place has none") {
  for (char32_t point = 0; point <= 0x10ffff; point += point < 0x900 ? 1 : 37) {
    const std::string bytes = encoded(point);
    const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
    if (utf8_length(bytes + "x") != (is_surrogate ? 0 : bytes.size())) FAIL("code point " << +point);
    if (bytes.size() > 1 && utf8_length(bytes.substr(0, bytes.size() - 1)) != 0) FAIL("cut off: " << +point);
  }
  CHECK(utf8_length("") == 0);
  for (int first = 0x80; first < 0xc2; ++first)
    CHECK(utf8_length(std::string{static_cast<char>(first), '\x80'}) == 0);
}

TEST_CASE("utf8: a text is cut between characters") {
  CHECK(whole_characters("abc", 3) == "abc");
  CHECK(whole_characters("abcd", 3) == "abc");
  CHECK(whole_characters("a\u00e4b", 2) == "a");
  CHECK(whole_characters("a\u00e4b", 3) == "a\u00e4");
  CHECK(whole_characters("\U0001f600x", 3).empty());
  CHECK(whole_characters("\x80\x80\x80\x80\x80\x80\x80\x80", 7).size() == 4);  // no text at all
}

}  // namespace shardlab
