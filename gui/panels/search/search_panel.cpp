// Search: a search file run on a thread; its results as a table and as a scatter of any two axes. A click
// opens the scenario.
#include <fmt/format.h>
#include <imgui.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "gui/panels/search/scatter.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/search/search_job.h"
#include "gui/view_model/search/search_table.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/error_text.h"
#include "gui/widgets/named_area.h"
#include "simulator/calibrate/choose_calibration.h"

namespace shardlab::gui {
namespace {

class SearchPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "search",
            .title = "Search",
            .help = "Which configuration, on how many GPUs, for how much: a search file's answers",
            .area = DockArea::centre,
            .rank = 60,
            .shortcut = 0};
  }

  bool busy() const override { return job_.running(); }

  void draw(PanelContext& context) override {
    draw_file(context);
    refresh();
    if (job_.running() || shown_) draw_progress(context.theme);
    if (!shown_) {
      if (!job_.running())
        empty_state("No search yet",
                    "Name a search file (docs/search.md): a scenario, what may vary, what must hold, what is "
                    "offered.",
                    context.theme);
      return;
    }
    if (shown_->error) {
      draw_error(*shown_->error, context.theme);
      return;
    }
    for (const std::string& line : answers_) ImGui::TextUnformatted(line.c_str());
    draw_waiting(context.session);
    draw_filter();
    if (!ImGui::BeginTabBar("views", ImGuiTabBarFlags_DrawSelectedOverline)) return;
    if (begin_tab("Table")) {
      draw_table(context);
      ImGui::EndTabItem();
    }
    if (begin_tab("Scatter")) {
      draw_scatter_tab(context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  // One button: it begins, stops, and goes on with what was stopped.
  void draw_file(PanelContext& context) {
    const float room = context.theme.scaled(90);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - room);
    ImGui::InputTextWithHint("##search file", "search file", &file_);
    ImGui::SameLine();
    if (job_.running()) {
      if (ImGui::Button("Stop")) job_.stop();
      return;
    }
    const bool goes_on = shown_ && shown_->stopped && searched_ == file_;
    ImGui::BeginDisabled(file_.empty());
    if (ImGui::Button(goes_on ? "Resume" : "Search")) start(context.session);
    ImGui::EndDisabled();
  }

  void start(Session& session) {
    searched_ = file_;
    std::vector<std::string> texts = session.calibrations();
    const std::string from = session.database().string();
    job_.start(
        file_,
        [texts = std::move(texts), from](const Scenario& scenario) -> Result<std::optional<Calibration>> {
          std::vector<std::string> all = texts;
          SHARDLAB_TRY(const std::vector<std::string> shipped, shipped_calibrations());
          all.insert(all.end(), shipped.begin(), shipped.end());
          return choose_calibration(all, from, scenario);
        },
        {});
  }

  void refresh() {
    const auto newest = job_.outcome();
    if (newest != shown_) {
      shown_ = newest;
      points_ = shown_->error ? view::SearchPoints() : view::points_of(*shown_);
      answers_ = shown_->error ? std::vector<std::string>() : view::answer_lines(*shown_);
      // Where nothing satisfies there is still something to look at.
      filter_.satisfying = !shown_->result.answers.empty();
      filtered_.reset();
      waiting_.reset();
    }
    if (!shown_ || filtered_ == filter_) return;
    filtered_ = filter_;
    passing_ = view::passing(points_, filter_);
    table_ = view::search_table(*shown_, passing_);
    ++revision_;
  }

  void draw_progress(const Theme& theme) const {
    const SearchProgress now = job_.progress();
    const float share = now.total > 0 ? static_cast<float>(now.done) / static_cast<float>(now.total) : 0;
    ImGui::PushStyleColor(ImGuiCol_PlotHistogram, faded(theme.accent, 0.7F));
    ImGui::ProgressBar(share, {-1, 0}, view::progress_text(now).c_str());
    ImGui::PopStyleColor();
    if (shown_ && shown_->stopped && !job_.running())
      ImGui::TextColored(ImColor(theme.fair), "Stopped: the best so far. Resume goes on where it ended.");
  }

  void draw_filter() {
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##filter", "filter settings: words that all must occur", &filter_.text);
    ImGui::Checkbox("only what satisfies", &filter_.satisfying);
    ImGui::SameLine();
    ImGui::TextDisabled("%zu of %zu simulated", passing_.size(), points_.size());
  }

  // Edits that are not saved are dropped only when somebody says so.
  void open(std::size_t simulated, Session& session) {
    if (session.document().changed())
      waiting_ = simulated;
    else
      open_now(simulated, session);
  }

  void draw_waiting(Session& session) {
    if (!waiting_) return;
    ImGui::PushTextWrapPos(0);
    ImGui::Text("%s has changes that are not saved.", session.document().title().c_str());
    ImGui::PopTextWrapPos();
    if (ImGui::Button("Open without saving")) open_now(*std::exchange(waiting_, std::nullopt), session);
    ImGui::SameLine();
    if (ImGui::Button("Keep the changes")) waiting_.reset();
  }

  void open_now(std::size_t simulated, Session& session) {
    auto found = view::scenario_of(*shown_, simulated);
    if (!found) {
      session.messages().add(found.error(), "search", session.now());
      return;
    }
    session.open_text(std::move(found->text), std::move(found->file));
  }

  void draw_table(PanelContext& context) {
    const GridEvents events =
        data_grid("search results", table_, grid_, {.revision = revision_}, context.theme);
    follow_why(events.answer, nullptr, context);
    if (events.click) open(static_cast<std::size_t>(table_.rows[events.click->row].key), context.session);
  }

  void draw_scatter_tab(PanelContext& context) {
    const bool has_tokens = shown_->question.training.tokens.has_value();
    axis_combo("across", x_, has_tokens, context.theme);
    ImGui::SameLine();
    axis_combo("up", y_, has_tokens, context.theme);
    const auto clicked =
        draw_scatter({points_, passing_, x_, y_, has_tokens, revision_}, scatter_, context.theme);
    if (clicked) open(*clicked, context.session);
  }

  static void axis_combo(const char* label, view::SearchAxis& axis, bool has_tokens, const Theme& theme) {
    ImGui::SetNextItemWidth(theme.scaled(170));
    if (!begin_combo(label, std::string(view::title_of(axis, has_tokens)).c_str())) return;
    for (std::size_t i = 0; i < view::k_search_axes; ++i) {
      const auto each = static_cast<view::SearchAxis>(i);
      if (ImGui::Selectable(std::string(view::title_of(each, has_tokens)).c_str(), each == axis)) axis = each;
    }
    ImGui::EndCombo();
  }

  view::SearchJob job_;
  std::string file_, searched_;
  std::shared_ptr<const view::SearchOutcome> shown_;
  view::SearchPoints points_;
  std::vector<std::string> answers_;
  view::PointFilter filter_;
  std::optional<view::PointFilter> filtered_;  // that the next three are of
  std::vector<std::uint32_t> passing_;
  view::DataTable table_;
  std::uint64_t revision_ = 0;
  std::optional<std::size_t> waiting_;  // a result that was clicked, for an answer about unsaved edits
  DataGridState grid_;
  view::SearchAxis x_ = view::SearchAxis::time, y_ = view::SearchAxis::memory;
  ScatterState scatter_;
};

}  // namespace

std::unique_ptr<Panel> make_search_panel() {
  return std::make_unique<SearchPanel>();
}

}  // namespace shardlab::gui
