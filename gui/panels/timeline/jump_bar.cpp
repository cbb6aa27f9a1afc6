#include "gui/panels/timeline/jump_bar.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gui/widgets/named_area.h"

namespace shardlab::gui {

void JumpBar::refresh(const view::LoadedRun& run, const view::TimelineTrack& track, std::uint64_t revision) {
  const bool other_run = std::exchange(revision_, revision) != revision;
  if (other_run) {
    layers_ = view::layers_of(run);
    micro_batches_ = run.plan().micro_batches;
    seen_ = Nanoseconds{-1};
  }
  const int most = kind_ == static_cast<int>(view::JumpKind::layer) ? layers_ : micro_batches_;
  number_ = std::clamp(number_, 0, std::max(most - 1, 0));
  const view::JumpTarget wanted{static_cast<view::JumpKind>(kind_), number_};
  if (!other_run && wanted == made_for_) return;
  made_for_ = wanted;
  places_ = view::jump_places(run, track, wanted);
}

void JumpBar::choose_target(const Theme& theme) {
  constexpr const char* k_kinds[] = {"exposed communication", "layer", "micro-batch"};
  ImGui::SetNextItemWidth(theme.scaled(180));
  ImGui::Combo("##jump to", &kind_, k_kinds, 3);
  name_last_item("##jump to");
  ImGui::SetItemTooltip("What the arrows beside it go to");
  if (kind_ == static_cast<int>(view::JumpKind::exposed)) return;
  // Layers count from 0 as in the model, micro-batches from 1 as in words.
  const bool counts_from_one = kind_ == static_cast<int>(view::JumpKind::micro_batch);
  int shown = number_ + (counts_from_one ? 1 : 0);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(theme.scaled(60));
  if (ImGui::InputInt("##jump number", &shown, 0)) number_ = shown - (counts_from_one ? 1 : 0);
  name_last_item("##jump number");
}

std::optional<TimeInterval> JumpBar::draw(const view::LoadedRun& run, const view::TimelineTrack& track,
                                          std::uint64_t revision, const Theme& theme) {
  choose_target(theme);
  refresh(run, track, revision);
  std::optional<TimeInterval> place;
  ImGui::BeginDisabled(places_.empty());
  ImGui::SameLine();
  if (ImGui::ArrowButton("##previous place", ImGuiDir_Left)) place = view::previous_place(places_, seen_);
  name_last_item("##previous place");
  ImGui::SetItemTooltip("The place before");
  ImGui::SameLine(0, theme.scaled(2));
  if (ImGui::ArrowButton("##next place", ImGuiDir_Right)) place = view::next_place(places_, seen_);
  name_last_item("##next place");
  ImGui::SetItemTooltip("The next place");
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  if (place) seen_ = place->begin;
  const auto at = std::find_if(places_.begin(), places_.end(),
                               [this](const TimeInterval& each) { return each.begin == seen_; });
  const std::string count =
      at == places_.end() ? fmt::format("{} {}", places_.size(), places_.size() == 1 ? "place" : "places")
                          : fmt::format("{} of {}", at - places_.begin() + 1, places_.size());
  ImGui::TextDisabled("%s", count.c_str());
  return place;
}

}  // namespace shardlab::gui
