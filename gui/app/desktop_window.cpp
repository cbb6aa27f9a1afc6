#include "gui/app/desktop_window.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <implot.h>

#include "engine/base/paths.h"
#include "gui/app/item_file.h"
#include "gui/app/start_session.h"
#include "gui/shell/fonts.h"
#include "gui/shell/panel.h"
#include "gui/shell/shell.h"

namespace shardlab::gui {
namespace {

// Frames are drawn on input and when a thread has news, and for a moment after, so that what settles over
// several frames does; otherwise this often.
constexpr double k_idle_seconds = 0.25;
constexpr int k_frames_after_event = 8;

std::string last_glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "unknown" : text;
}

struct Glfw {
  bool ready = glfwInit() == GLFW_TRUE;
  ~Glfw() { glfwTerminate(); }
};

struct CloseWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using Window = std::unique_ptr<GLFWwindow, CloseWindow>;

Window make_window(const GuiOptions& options) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  return Window(glfwCreateWindow(options.width, options.height, "shardlab", nullptr, nullptr));
}

// Dear ImGui and its renderers, for one window.
class Graphics {
 public:
  explicit Graphics(GLFWwindow* window) {
    ImGui::CreateContext();
    ImPlot::CreateContext();
    fonts_ = load_fonts();
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ready_ = ImGui_ImplOpenGL3_Init("#version 330");
  }
  ~Graphics() {
    if (ready_) ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
  }
  Graphics(const Graphics&) = delete;
  Graphics& operator=(const Graphics&) = delete;

  bool ready() const { return ready_; }
  Fonts fonts() const { return fonts_; }

 private:
  Fonts fonts_;
  bool ready_ = false;
};

void show_frame(GLFWwindow* window, ImU32 background) {
  using Viewport = void (*)(int, int, int, int);
  using ClearColour = void (*)(float, float, float, float);
  using Clear = void (*)(unsigned);
  constexpr unsigned k_colour_buffer = 0x4000;  // GL_COLOR_BUFFER_BIT
  static const auto viewport = reinterpret_cast<Viewport>(glfwGetProcAddress("glViewport"));
  static const auto clear_colour = reinterpret_cast<ClearColour>(glfwGetProcAddress("glClearColor"));
  static const auto clear = reinterpret_cast<Clear>(glfwGetProcAddress("glClear"));
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(background);
  viewport(0, 0, width, height);
  clear_colour(colour.x, colour.y, colour.z, 1);
  clear(k_colour_buffer);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window);
}

struct WindowState {
  Shell* shell = nullptr;
};

void listen(GLFWwindow* window, WindowState& state) {
  glfwSetWindowUserPointer(window, &state);
  glfwSetDropCallback(window, [](GLFWwindow* its, int count, const char** names) {
    static_cast<WindowState*>(glfwGetWindowUserPointer(its))->shell->drop_files({names, names + count});
  });
  glfwSetWindowCloseCallback(window, [](GLFWwindow* its) {
    glfwSetWindowShouldClose(its, GLFW_FALSE);  // the shell asks about unsaved edits first
    static_cast<WindowState*>(glfwGetWindowUserPointer(its))->shell->request_quit();
  });
}

// Where widgets are, of the frame that was drawn.
void tell_items(std::optional<ItemFile>& items, Session& session, const Shell& shell) {
  if (!items) return;
  if (const auto written = items->write(session.predicting() || shell.busy()); !written)
    session.messages().add(written.error(), "items", session.now());
}

void loop(GLFWwindow* window, Session& session, Shell& shell, const GuiOptions& options) {
  std::optional<ItemFile> items;
  if (!options.items.empty()) items.emplace(options.items);
  const auto begin = std::chrono::steady_clock::now();
  int frames_left = k_frames_after_event;
  std::string title;
  while (!shell.should_quit()) {
    if (frames_left > 0) {
      glfwPollEvents();
      --frames_left;
    } else {
      const double waited_from = glfwGetTime();
      glfwWaitEventsTimeout(k_idle_seconds);
      if (glfwGetTime() - waited_from < k_idle_seconds * 0.9) frames_left = k_frames_after_event;
    }
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin;
    session.update(now.count());
    float scale_x = 1, scale_y = 1;
    glfwGetWindowContentScale(window, &scale_x, &scale_y);  // another monitor may have another
    shell.set_monitor_scale(scale_x);
    shell.prepare();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    if (items) items->begin_frame();
    ImGui::NewFrame();
    shell.draw();
    ImGui::Render();
    show_frame(window, shell.theme().window);
    shell.finish_frame();
    tell_items(items, session, shell);
    const std::string wanted =
        session.document().title() + (session.document().changed() ? " * - shardlab" : " - shardlab");
    if (wanted != title) glfwSetWindowTitle(window, (title = wanted).c_str());
    if (session.predicting() || shell.busy() || ImGui::IsAnyItemActive()) frames_left = k_frames_after_event;
    if (options.time_start) return;
  }
}

}  // namespace

Status run_window(const GuiOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Glfw glfw;
  if (!glfw.ready)
    return not_possible("the window", "no display: " + last_glfw_error(),
                        "log in to a desktop, or use --screenshot FILE, which needs none");
  const Window window = make_window(options);
  if (!window)
    return not_possible("the window", "no OpenGL 3.3: " + last_glfw_error(),
                        "install the graphics driver, or libgl1-mesa-dri");
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);
  const Graphics graphics(window.get());
  if (!graphics.ready())
    return not_possible("the window", "OpenGL 3.3 cannot be used", "update the graphics driver");

  Session session([] { glfwPostEmptyEvent(); });
  const std::filesystem::path preferences_file = preferences_path();
  if (auto preferences = load_preferences(preferences_file)) {
    session.preferences() = *std::move(preferences);
  } else {
    session.messages().add(preferences.error(), "preferences", 0);
  }
  start_session(session, options);
  Shell shell(session, make_panels(), graphics.fonts(),
              {.only_panel = {}, .remembers = !options.time_start, .preferences_file = preferences_file});
  WindowState state{&shell};
  listen(window.get(), state);
  loop(window.get(), session, shell, options);
  if (options.time_start) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("first frame after %.0f ms\n", took.count());
  }
  shell.write_preferences();
  return {};
}

}  // namespace shardlab::gui
