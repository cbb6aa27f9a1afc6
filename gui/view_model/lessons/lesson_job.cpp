#include "gui/view_model/lessons/lesson_job.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardlab::view {

bool LessonView::may_go_on() const {
  if (page == nullptr || !page->question) return true;
  const auto found = replies.find(step);
  const bool right =
      found != replies.end() && std::any_of(found->second.begin(), found->second.end(),
                                            [](const LessonReply& reply) { return reply.right; });
  return right || told.contains(step);
}

std::string LessonView::end_words() const {
  if (!lesson) return {};
  if (asked.empty()) return lesson->title + " is done.";
  int right = 0;
  for (const int question : asked) {
    const auto found = replies.find(question);
    if (found == replies.end()) continue;
    const auto first = std::find_if(found->second.begin(), found->second.end(),
                                    [](const LessonReply& reply) { return reply.understood; });
    right += first != found->second.end() && first->right ? 1 : 0;
  }
  return fmt::format("{} is done: {} of {} answered right at the first attempt.", lesson->title, right,
                     asked.size());
}

LessonJob::LessonJob(std::function<void()> wake, std::filesystem::path course_folder)
    : wake_(std::move(wake)), course_folder_(std::move(course_folder)) {}

LessonJob::~LessonJob() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LessonJob::ask(Request request) {
  ++asked_;
  {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(std::move(request));
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

// A defect of what answers must end neither the thread nor the window.
LessonJob::Take LessonJob::answer_to(const Request& request, LessonDesk& desk) {
  try {
    Take take = request(desk);
    return [take = std::move(take), trouble = desk.trouble()](LessonView& view) {
      if (take) take(view);
      view.trouble = trouble;
    };
  } catch (const std::exception& exception) {
    const Error defect{ErrorKind::internal, "lesson", exception.what(), {}};
    return [defect](LessonView& view) { view.error = defect; };
  }
}

void LessonJob::work() {
  LessonDesk desk(course_folder_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !requests_.empty(); });
    if (stopping_) return;
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    Take take = answer_to(request, desk);
    lock.lock();
    answers_.push_back(std::move(take));
    if (!wake_) continue;
    lock.unlock();
    wake_();
    lock.lock();
  }
}

bool LessonJob::poll() {
  std::vector<Take> answers;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || answers_.empty()) return false;
    answers = std::exchange(answers_, {});
  }
  for (const Take& take : answers) take(view_);
  answered_ += answers.size();
  return true;
}

void LessonJob::use_database(std::filesystem::path file) {
  ask([file = std::move(file)](LessonDesk& desk) -> Take {
    desk.use_database(file);
    return {};
  });
}

void LessonJob::read_shelf() {
  ask([](LessonDesk& desk) -> Take {
    Result<LessonShelf> read = desk.shelf();
    if (!read) return [error = std::move(read).error()](LessonView& view) { view.shelf_error = error; };
    return [shelf = std::make_shared<const LessonShelf>(*std::move(read))](LessonView& view) {
      view.shelf = shelf;
      view.shelf_error.reset();
    };
  });
}

void LessonJob::open(std::string lesson, int step) {
  view_.error.reset();
  ask([lesson = std::move(lesson), step, this](LessonDesk& desk) -> Take {
    Result<LessonHead> opened = desk.open(lesson, step);
    if (!opened) return [error = std::move(opened).error()](LessonView& view) { view.error = error; };
    return [head = *std::move(opened), this](LessonView& view) {
      view.lesson = head;
      view.replies.clear();
      view.asked.clear();
      view.told.clear();
      go_to(head.first);
    };
  });
}

void LessonJob::leave() {
  view_.lesson.reset();
  view_.page = nullptr;
  view_.page_error.reset();
  view_.error.reset();
  view_.step = 0;
  read_shelf();
}

void LessonJob::go_to(int step) {
  if (!view_.lesson || step < 1) return;
  view_.step = std::min(step, view_.lesson->steps + 1);
  view_.page = nullptr;
  view_.page_error.reset();
  view_.effect.reset();
  view_.run.reset();
  if (view_.at_end()) {
    ask([](LessonDesk& desk) -> Take {
      desk.finish();
      return {};
    });
    return;
  }
  ask([step = view_.step](LessonDesk& desk) -> Take {
    Result<StepPage> page = desk.page(step);
    if (!page)
      return [error = std::move(page).error(), step](LessonView& view) {
        if (view.lesson && view.step == step) view.page_error = error;
      };
    return [made = std::make_shared<const StepPage>(*std::move(page))](LessonView& view) {
      if (!view.lesson || view.step != made->step) return;  // somebody went on meanwhile
      view.page = made;
      if (made->question) view.asked.insert(made->step);
    };
  });
}

void LessonJob::answer(std::string typed) {
  ask([typed = std::move(typed), step = view_.step](LessonDesk& desk) -> Take {
    return [reply = desk.judge(typed), step](LessonView& view) { view.replies[step].push_back(reply); };
  });
}

void LessonJob::tell() {
  view_.told.insert(view_.step);
}

void LessonJob::try_settings(std::vector<std::string> settings) {
  ask([settings = std::move(settings), step = view_.step](LessonDesk& desk) -> Take {
    return [effect = desk.effect(settings), step](LessonView& view) {
      if (view.step == step) view.effect = effect;
    };
  });
}

void LessonJob::take_run(RunId id) {
  ask([id, step = view_.step](LessonDesk& desk) -> Take {
    return [run = desk.take_run(id), step](LessonView& view) {
      if (view.step == step) view.run = run;
    };
  });
}

}  // namespace shardlab::view
