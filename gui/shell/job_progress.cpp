#include "gui/shell/job_progress.h"

#include <fmt/format.h>
#include <imgui.h>

#include "gui/widgets/error_text.h"

namespace shardlab::gui {

void draw_job_progress(const view::Job& job, const Theme& theme) {
  const view::JobOutput& output = job.output();
  ImGui::PushStyleColor(ImGuiCol_PlotHistogram, faded(theme.accent, 0.7F));
  if (output.steps > 0) {
    const std::string text = fmt::format("step {} of {}", output.steps_done, output.steps);
    ImGui::ProgressBar(static_cast<float>(output.steps_done) / static_cast<float>(output.steps), {-1, 0},
                       text.c_str());
  } else if (!job.ended()) {
    ImGui::ProgressBar(-1.0F * static_cast<float>(ImGui::GetTime()), {-1, 0},
                       output.activity.empty() ? "starting" : output.activity.c_str());
  }
  ImGui::PopStyleColor();
  if (job.trouble()) draw_error(*job.trouble(), theme);
}

}  // namespace shardlab::gui
