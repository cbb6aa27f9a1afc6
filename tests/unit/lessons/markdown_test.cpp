// The little Markdown of lessons, in a terminal and as HTML.
#include "engine/lessons/markdown.h"

#include <chrono>
#include <string>

#include "tests/catch.h"

namespace shardlab::lessons {
namespace {

TEST_CASE("paragraphs, items, tables and code are told apart") {
  const auto blocks = parse_markdown(
      "One **two** `three`\nfour.\n\n- an item\n1. another\n\n| a | b |\n| --- | --- |\n| 1 | 2 "
      "|\n\n```\ncode\n```\n");
  REQUIRE(blocks.size() == 5);
  CHECK(plain_text(blocks[0].line) == "One two three four.");
  CHECK(blocks[0].line[1] == MarkdownSpan{.text = "two", .strong = true});
  CHECK(blocks[1].mark == "-");
  CHECK(blocks[2].mark == "1.");
  CHECK(blocks[3].rows.size() == 2);
  CHECK(blocks[4].code == "code\n");
  CHECK(plain_text(blocks) == "One two three four. an item another a b 1 2 code\n");
}

TEST_CASE("a terminal gets wrapped lines without marks") {
  const std::string text =
      markdown_for_terminal("**Gather** the shards of all ranks, `u1` first.", 20, false);
  CHECK(text.find('*') == std::string::npos);
  CHECK(text.ends_with("\n"));
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    CHECK(end - at <= 20);
  }
  CHECK(markdown_for_terminal("[x](https://example.org)", 40, false) == "x (https://example.org)\n");
}

TEST_CASE("a page gets nothing that is HTML by itself") {
  const std::string html =
      markdown_as_html("<script>alert(1)</script> & `a < b` [x](https://e.org/?a=\"b\")");
  CHECK(html.find("<script>") == std::string::npos);
  CHECK(html.find("&lt;script&gt;") != std::string::npos);
  CHECK(html.find("<code>a &lt; b</code>") != std::string::npos);
  CHECK(escaped_html("\"a\" & <b>") == "&quot;a&quot; &amp; &lt;b&gt;");
  CHECK(markdown_as_html("[x](javascript:alert(1))").find("href=\"javascript") == std::string::npos);
}

TEST_CASE("a text of brackets alone takes no time") {
  constexpr std::size_t k_many = 200'000;
  const auto begin = std::chrono::steady_clock::now();
  std::string mixed;
  for (std::size_t i = 0; i < k_many; ++i) mixed += i % 2 == 0 ? '[' : ']';
  for (const std::string& text :
       {std::string(k_many, '['), std::string(k_many, ']'), std::string(k_many, '[') + "](", mixed})
    CHECK(plain_text(parse_markdown(text).front().line) == text);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("marks that are not closed are text") {
  for (const char* text : {"**open", "`open", "[open](", "[open]", "|", "```\nopen", "", "\n\n"}) {
    INFO(text);
    CHECK_NOTHROW(parse_markdown(text));
    CHECK_NOTHROW(markdown_for_terminal(text, 40, true));
    CHECK_NOTHROW(markdown_as_html(text));
  }
}

}  // namespace
}  // namespace shardlab::lessons
