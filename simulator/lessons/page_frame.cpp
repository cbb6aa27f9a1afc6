#include "simulator/lessons/page_frame.h"

#include <string_view>

#include "engine/lessons/markdown.h"

namespace shardlab::lessons {
namespace {

constexpr std::string_view k_style = R"css(
body { font: 17px/1.55 sans-serif; color: #26262b; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.4rem; margin-top: 3rem; } h3 { font-size: 1rem; margin: 0 0 .4rem; }
p, li { max-width: 46rem; }
code, pre { font-family: monospace; font-size: .88em; } code { background: #f2f2f5; padding: 0 .2em; overflow-wrap: anywhere; }
pre { background: #f2f2f5; padding: .7rem 1rem; overflow-x: auto; line-height: 1.35; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; } th, td { padding: .25rem .9rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr + tr td { border-top: 1px solid #dcdce2; }
figure { margin: 1.5rem 0; } figcaption p { margin: .4rem 0; color: #55555e; }
.able { color: #55555e; }
.ask, .run { border-left: 4px solid #4e79a7; background: #f6f8fb; padding: .8rem 1.2rem; margin: 1.5rem 0; }
.run { border-color: #59a14f; background: #f5faf4; }
details { margin: .4rem 0; } summary { cursor: pointer; padding: .3rem .6rem; background: #fff; border: 1px solid #dcdce2; }
.reveal { margin: 1.5rem 0; } .reveal > summary { font-weight: bold; background: #fdf6e9; }
.right, .wrong { padding: .1rem 1rem; border-left: 4px solid #59a14f; } .wrong { border-color: #e15759; }
.source, .hint { color: #6b6b75; font-size: .88em; } a { color: #2f5c8f; }
)css";

}  // namespace

std::string page_around(const std::string& title, const std::string& body) {
  const std::string escaped = escaped_html(title);
  return "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
         "<meta name=viewport content=\"width=device-width\">\n<title>" +
         escaped + "</title>\n<style>" + std::string(k_style) + "</style>\n</head>\n<body>\n<h1>" + escaped +
         "</h1>\n" + body + "</body>\n</html>\n";
}

}  // namespace shardlab::lessons
