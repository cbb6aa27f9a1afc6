// A lesson gone through on a thread of its own, so that no frame waits for a prediction or a database.
//
// Belongs to the frame's thread: it asks, polls, and reads what is known from view(). Requests are answered
// one after the other. Nothing waits but the destructor, for the one that is being answered just then.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gui/view_model/lessons/lesson_desk.h"

namespace shardlab::view {

// What is known; plain values.
struct LessonView {
  std::shared_ptr<const LessonShelf> shelf;  // null: not read yet
  std::optional<LessonHead> lesson;          // none: none is open
  std::optional<Error> shelf_error;          // why there is none, or why it is an older one
  std::optional<Error> error;                // why the last lesson could not be opened
  int step = 0;                              // that was asked for, from 1; behind the last one: the end
  std::shared_ptr<const StepPage> page;      // of that step; null while it is reckoned, and at the end
  std::optional<Error> page_error;           // why there is none
  std::map<int, std::vector<LessonReply>> replies;  // by step, in their order
  std::set<int> asked;                              // steps that ask, as far as they were seen
  std::set<int> told;                               // those of them whose answer was told
  std::optional<Result<std::string>> effect;        // of the settings that were tried last in this step
  std::optional<Result<LessonRun>> run;             // of this step
  std::optional<Error> trouble;                     // with the database

  bool at_end() const { return lesson && step > lesson->steps; }
  // Whether the question of this step was answered right, or told; true of any other step.
  bool may_go_on() const;
  // "Three cuts is done: 2 of 3 answered right at the first attempt."
  std::string end_words() const;
};

class LessonJob {
 public:
  // `wake` is called on the other thread when there is something to show; may be empty. `course_folder` as
  // for LessonDesk.
  explicit LessonJob(std::function<void()> wake = {}, std::filesystem::path course_folder = {});
  ~LessonJob();
  LessonJob(const LessonJob&) = delete;
  LessonJob& operator=(const LessonJob&) = delete;

  void use_database(std::filesystem::path file);
  void read_shelf();
  // As LessonDesk::open(), and shows that step.
  void open(std::string lesson, int step = 0);
  // Closes it, and reads the shelf again.
  void leave();
  // Step by step: beyond the last is the end, and before the first nothing.
  void go_to(int step);
  void answer(std::string typed);
  void tell();
  void try_settings(std::vector<std::string> settings);
  void take_run(RunId id);

  // Takes what is new; true when there was any. Never waits for the other thread's work.
  bool poll();
  const LessonView& view() const { return view_; }
  // Whether something that was asked for is still to come.
  bool busy() const { return asked_ != answered_; }

 private:
  // What the frame's thread does with an answer.
  using Take = std::function<void(LessonView&)>;
  using Request = std::function<Take(LessonDesk&)>;

  void ask(Request request);
  void work();
  static Take answer_to(const Request& request, LessonDesk& desk);

  LessonView view_;
  std::function<void()> wake_;
  std::filesystem::path course_folder_;
  std::uint64_t asked_ = 0, answered_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;  // guarded by mutex_, as is what follows
  std::vector<Take> answers_;
  bool stopping_ = false;
  std::thread thread_;  // begins with the first request
};

}  // namespace shardlab::view
