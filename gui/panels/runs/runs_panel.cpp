// Runs: the history from the database, with filter, tags, notes, and the trend of the predictions' errors.
#include <fmt/format.h>
#include <imgui.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>

#include "gui/panels/runs/trend_plot.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

class RunsPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "runs",
            .title = "Runs",
            .help = "Stored runs: filter, tags, notes, the trend of errors over time",
            .area = DockArea::centre,
            .rank = 40,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_4};
  }

  void draw(PanelContext& context) override {
    database_trouble(context.session, context.theme);
    draw_filter(context);
    refresh(context.session);
    if (context.session.runs().view().runs->empty()) {
      empty_state("No runs yet",
                  "Stored predictions and real runs are listed here. Start one in Run monitor, or with "
                  "`shardlab validate`.",
                  context.theme);
      return;
    }
    if (!ImGui::BeginTabBar("views", ImGuiTabBarFlags_DrawSelectedOverline)) return;
    if (begin_tab("List")) {
      draw_list(context);
      ImGui::EndTabItem();
    }
    if (begin_tab("Trend")) {
      draw_trend_tab(context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  void refresh(Session& session) {
    const view::RunEntries& runs = session.runs().view().runs;
    if (runs == runs_ && !filter_changed_) return;
    runs_ = runs;
    filter_changed_ = false;
    table_ = run_table(*runs_, filter_);
    trend_ = error_trend(*runs_, filter_);
    tags_ = view::tags_of(*runs_);
    ++revision_;
  }

  void draw_filter(PanelContext& context) {
    const Theme& theme = context.theme;
    ImGui::SetNextItemWidth(theme.scaled(240));
    filter_changed_ |=
        ImGui::InputTextWithHint("##filter", "filter: name, tag, note, strategy, r12", &filter_.text);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(theme.scaled(120));
    constexpr const char* k_kinds[] = {"both kinds", "predicted", "measured"};
    if (ImGui::Combo("##kind", &kind_, k_kinds, 3)) {
      filter_.kind =
          kind_ == 0 ? std::nullopt : std::optional(kind_ == 1 ? RunKind::predicted : RunKind::measured);
      filter_changed_ = true;
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(theme.scaled(120));
    if (ImGui::BeginCombo("##tag", filter_.tag.empty() ? "any tag" : filter_.tag.c_str())) {
      if (ImGui::Selectable("any tag", filter_.tag.empty())) filter_changed_ = true, filter_.tag.clear();
      for (const std::string& tag : tags_) {
        if (!ImGui::Selectable(tag.c_str(), tag == filter_.tag)) continue;
        filter_.tag = tag;
        filter_changed_ = true;
      }
      ImGui::EndCombo();
    }
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "%zu of %zu", table_.rows.size(),
                       runs_ ? runs_->size() : 0);
    ImGui::SameLine();
    copy_csv_button("runs", table_);
  }

  void draw_list(PanelContext& context) {
    const auto& chosen = context.session.selection().runs();
    const auto is_chosen = [&](std::int64_t id) {
      return std::find(chosen.begin(), chosen.end(), RunId{id}) != chosen.end();
    };
    const float below = chosen.empty() ? 0 : context.theme.scaled(104);
    const GridEvents events =
        data_grid("runs", table_, state_,
                  {.revision = revision_,
                   .size = {0, ImGui::GetContentRegionAvail().y - below},
                   .is_chosen = [&](const view::Row& row) { return is_chosen(row.key); }},
                  context.theme);
    if (events.click) choose(context.session, RunId{table_.rows[events.click->row].key}, events.click->add);
    follow_why(events.answer, nullptr, context);
    if (!context.session.selection().runs().empty()) draw_details(context);
  }

  // A click shows one run, with Ctrl it joins or leaves those that are shown.
  static void choose(Session& session, RunId id, bool add) {
    std::vector<RunId> runs = session.selection().runs();
    const bool was = std::find(runs.begin(), runs.end(), id) != runs.end();
    if (!add)
      runs = {id};
    else if (was)
      std::erase(runs, id);
    else
      runs.push_back(id);
    session.selection().choose_runs(std::move(runs));
  }

  const RunEntry* entry_of(RunId id) const {
    const auto found =
        std::find_if(runs_->begin(), runs_->end(), [id](const RunEntry& run) { return run.id == id; });
    return found == runs_->end() ? nullptr : &*found;
  }

  void draw_details(PanelContext& context) {
    Session& session = context.session;
    const RunId id = session.selection().runs().back();
    const RunEntry* const run = entry_of(id);
    view::StoreReader* const reader = session.runs().reader();
    if (run == nullptr || reader == nullptr) return;
    if (edited_ != id || (!editing_ && note_ != run->note)) {
      edited_ = id;
      note_ = run->note;
    }
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(context.theme.fonts.bold, 0);
    ImGui::TextUnformatted(fmt::format("{} {}", to_string(id), run->name).c_str());
    ImGui::PopFont();
    if (const auto& failed = session.runs().view().failed; failed.contains(id)) {
      ImGui::SameLine();
      ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(context.theme.bad), "%s",
                         what_text(failed.at(id)).c_str());
    }
    draw_tags(*run, *reader, context.theme);
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##note", "note", &note_);
    editing_ = ImGui::IsItemActive();
    if (ImGui::IsItemDeactivatedAfterEdit() && note_ != run->note) reader->set_note(id, note_);
  }

  void draw_tags(const RunEntry& run, view::StoreReader& reader, const Theme& theme) {
    for (const std::string& tag : run.tags) {
      ImGui::SameLine();
      if (ImGui::SmallButton((tag + " x##tag").c_str())) reader.remove_tag(run.id, tag);
      if (ImGui::IsItemHovered()) ImGui::SetTooltip("Removes the tag");
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(theme.scaled(110));
    if (ImGui::InputTextWithHint("##new tag", "add a tag", &new_tag_, ImGuiInputTextFlags_EnterReturnsTrue) &&
        !new_tag_.empty())
      reader.add_tag(run.id, std::exchange(new_tag_, {}));
  }

  void draw_trend_tab(PanelContext& context) {
    if (trend_.empty()) {
      empty_state("No pairs yet",
                  "A measured run is paired with the prediction of the same plan that was stored before it.",
                  context.theme);
      return;
    }
    copy_csv_button("trend", trend_table(trend_));
    const TrendResult result = draw_trend(trend_, context.theme);
    if (result.clicked) choose(context.session, *result.clicked, false);
    if (auto asked = picture_menu("error-trend", result.min, result.max))
      context.pictures.push_back(*std::move(asked));
  }

  view::RunEntries runs_;
  view::RunListFilter filter_;
  bool filter_changed_ = true;
  int kind_ = 0;
  view::DataTable table_;
  std::vector<view::TrendPoint> trend_;
  std::vector<std::string> tags_;
  std::uint64_t revision_ = 0;
  DataGridState state_;
  RunId edited_;
  std::string note_, new_tag_;
  bool editing_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_runs_panel() {
  return std::make_unique<RunsPanel>();
}

}  // namespace shardlab::gui
