#include "gui/panels/scenario/yaml_language.h"

#include <cctype>

namespace shardlab::gui {
namespace {

bool is_word(ImWchar c) {
  return c < 128 && (std::isalnum(static_cast<int>(c)) != 0 || c == '_' || c == '-' || c == '.');
}

bool is_digit(ImWchar c) {
  return c >= '0' && c <= '9';
}

// A word that a colon follows is a key, one that begins with a digit a number (with its unit).
TextEditor::Iterator next_token(TextEditor::Iterator start, TextEditor::Iterator end,
                                TextEditor::Color& colour) {
  TextEditor::Iterator at = start;
  while (at < end && is_word(*at)) ++at;
  if (at == start) return start;
  if (at < end && *at == ':') {
    colour = TextEditor::Color::keyword;
  } else {
    colour = is_digit(*start) ? TextEditor::Color::number : TextEditor::Color::text;
  }
  return at;
}

}  // namespace

const TextEditor::Language* yaml_language() {
  static const TextEditor::Language language = [] {
    TextEditor::Language yaml;
    yaml.name = "YAML";
    yaml.singleLineComment = "#";
    yaml.hasSingleQuotedStrings = yaml.hasDoubleQuotedStrings = true;
    yaml.stringEscape = '\\';
    yaml.isPunctuation = [](ImWchar c) {
      return c == ':' || c == '{' || c == '}' || c == '[' || c == ']' || c == ',';
    };
    yaml.customTokenizer = next_token;
    return yaml;
  }();
  return &language;
}

TextEditor::Palette editor_palette(const Theme& theme) {
  TextEditor::Palette palette =
      theme.kind == ThemeKind::dark ? TextEditor::GetDarkPalette() : TextEditor::GetLightPalette();
  const auto set = [&](TextEditor::Color slot, ImU32 colour) {
    palette[static_cast<std::size_t>(slot)] = colour;
  };
  set(TextEditor::Color::text, theme.text);
  set(TextEditor::Color::keyword, theme.kind == ThemeKind::dark ? theme.series[0] : theme.accent);
  set(TextEditor::Color::number, theme.fair);
  set(TextEditor::Color::string, theme.good);
  set(TextEditor::Color::punctuation, theme.dimmed);
  set(TextEditor::Color::comment, theme.dimmed);
  set(TextEditor::Color::background, theme.panel);
  set(TextEditor::Color::cursor, theme.text);
  set(TextEditor::Color::selection, theme.selection);
  set(TextEditor::Color::lineNumber, faded(theme.dimmed, 0.6F));
  set(TextEditor::Color::currentLineNumber, theme.text);
  return palette;
}

}  // namespace shardlab::gui
