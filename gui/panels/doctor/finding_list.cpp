#include "gui/panels/doctor/finding_list.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shardlab::gui {
namespace {

void draw_counts(const view::FindingsView& view, const Theme& theme) {
  if (view.cards.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme.good);
  } else {
    ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  }
  ImGui::TextUnformatted(view.counts.c_str());
  ImGui::PopStyleColor();
  if (view.note.empty()) return;
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("%s", view.note.c_str());
  ImGui::PopTextWrapPos();
}

void draw_skipped(const view::FindingsView& view) {
  if (view.skipped_words.empty() || !ImGui::TreeNode("skipped", "%s", view.skipped_words.c_str())) return;
  ImGui::PushTextWrapPos(0);
  for (const view::SkippedRules& each : view.skipped) {
    ImGui::TextUnformatted(fmt::format("{} {}", each.rules.size(), each.why).c_str());
    ImGui::Indent();
    ImGui::TextDisabled("%s", fmt::format("{}", fmt::join(each.rules, ", ")).c_str());
    ImGui::Unindent();
  }
  ImGui::PopTextWrapPos();
  ImGui::TreePop();
}

// Cards from the first to before the last; those of one rule (mistakes have one) are told apart by a number.
void draw_cards(const view::FindingCard* first, const view::FindingCard* last, const CardOptions& options,
                CardEvents& events, const Theme& theme) {
  for (const view::FindingCard* card = first; card != last; ++card) {
    const auto before =
        std::count_if(first, card, [&](const view::FindingCard& other) { return other.rule == card->rule; });
    ImGui::PushID(static_cast<int>(before));
    const CardEvents of_card = draw_finding_card(*card, options, theme);
    ImGui::PopID();
    if (of_card.applied != nullptr) events.applied = of_card.applied;
    if (of_card.followed != nullptr) events.followed = of_card.followed;
  }
}

}  // namespace

CardEvents draw_finding_list(const view::FindingsView& view, const CardOptions& options, const Theme& theme) {
  CardEvents events;
  draw_counts(view, theme);
  ImGui::Spacing();
  // They are in order: what is only worth knowing comes last.
  const view::FindingCard *const begin = view.cards.data(), *const end = begin + view.cards.size();
  const view::FindingCard* const infos =
      std::find_if(begin, end, [](const view::FindingCard& card) { return card.severity == Severity::info; });
  draw_cards(begin, infos, options, events, theme);
  const bool unfolded =
      infos != end &&
      (infos == begin || ImGui::TreeNodeEx("worth knowing", ImGuiTreeNodeFlags_NoTreePushOnOpen, "%s",
                                           fmt::format("{} worth knowing", end - infos).c_str()));
  if (unfolded) draw_cards(infos, end, options, events, theme);
  draw_skipped(view);
  return events;
}

}  // namespace shardlab::gui
