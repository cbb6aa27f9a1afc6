#include "gui/view_model/store_reader.h"

#include <algorithm>

#include "gui/view_model/watched_store.h"

namespace shardlab::view {

namespace {

constexpr std::size_t k_most_loaded = 16;  // a run of many steps takes tens of megabytes

// A defect of what reads must end neither the thread nor the window.
Error defect(const std::filesystem::path& path, const char* what) {
  return {ErrorKind::internal, path.string(), what, {}};
}

Error deleted_error(const std::filesystem::path& path) {
  return {ErrorKind::bad_input, path.string(), "the database was deleted while it was open",
          "the runs shown are those that were read before; the next stored run makes a new file"};
}

}  // namespace

// What the thread found out since the last poll.
struct StoreReader::News {
  RunEntries runs;  // null: not read again
  bool replaced = false;
  bool written = false;
  bool trouble_known = false;
  std::optional<Error> trouble;
  std::vector<std::pair<RunId, Result<LoadedRunPtr>>> loads;
  std::vector<std::optional<Error>> changes;  // absent: it worked

  bool empty() const { return !runs && !replaced && !trouble_known && loads.empty() && changes.empty(); }
  void add(News later) {
    if (later.replaced) loads.clear();
    written = written || later.written;
    if (later.runs) runs = std::move(later.runs);
    if (later.trouble_known) trouble = std::move(later.trouble);
    trouble_known = trouble_known || later.trouble_known;
    replaced = replaced || later.replaced;
    std::move(later.loads.begin(), later.loads.end(), std::back_inserter(loads));
    std::move(later.changes.begin(), later.changes.end(), std::back_inserter(changes));
  }

  void set_trouble(std::optional<Error> error) {
    trouble_known = true;
    trouble = std::move(error);
  }

  // Reads the list when the file changed, or when the last attempt failed.
  void look(WatchedStore& file) {
    const FileChange change = file.look();
    replaced = replaced || change == FileChange::replaced;
    written = written || change == FileChange::content;
    if (change == FileChange::none) return;
    if (change == FileChange::deleted) return set_trouble(deleted_error(file.path()));
    const auto store = file.store();
    auto list = store ? (*store)->list() : Result<std::vector<RunEntry>>(fail(store.error()));
    if (list) runs = std::make_shared<const std::vector<RunEntry>>(*std::move(list));
    if (!list && change != FileChange::absent) file.close();
    set_trouble(list ? std::nullopt : std::optional(std::move(list).error()));
  }

  void load(WatchedStore& file, RunId id) {
    const auto store = file.store();
    auto record = store ? (*store)->load(id) : Result<RunRecord>(fail(store.error()));
    if (!record) {
      file.close();
      loads.emplace_back(id, fail(record.error()));
    } else {
      loads.emplace_back(id, std::make_shared<const LoadedRun>(LoadedRun{id, *std::move(record)}));
    }
  }

  void change(WatchedStore& file, const Change& wanted) {
    const auto store = file.store();
    Status status = store ? Status() : Status(fail(store.error()));
    if (store && wanted.kind == Change::Kind::add_tag) status = (*store)->add_tag(wanted.id, wanted.text);
    if (store && wanted.kind == Change::Kind::remove_tag)
      status = (*store)->remove_tag(wanted.id, wanted.text);
    if (store && wanted.kind == Change::Kind::set_note) status = (*store)->set_note(wanted.id, wanted.text);
    changes.push_back(status ? std::nullopt : std::optional(status.error()));
  }

  // What was asked for and is not answered has this answer.
  void fail_all(const Requests& requests, const Error& error) {
    set_trouble(error);
    while (changes.size() < requests.changes.size()) changes.emplace_back(error);
    while (loads.size() < requests.loads.size())
      loads.emplace_back(requests.loads[loads.size()], fail(error));
  }

  void answer(WatchedStore& file, const Requests& requests) {
    try {
      look(file);  // before anything else: the file may be another one by now
      for (const Change& each : requests.changes) change(file, each);
      if (!requests.changes.empty()) look(file);
      for (const RunId id : requests.loads) load(file, id);
    } catch (const std::exception& exception) {
      file.close();
      fail_all(requests, defect(file.path(), exception.what()));
    }
  }
};

StoreReader::StoreReader(std::filesystem::path path) : StoreReader(std::move(path), Options{}) {}

StoreReader::StoreReader(std::filesystem::path path, Options options)
    : path_(std::move(path)), options_(std::move(options)), thread_([this] { work(); }) {}

StoreReader::~StoreReader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StoreReader::load(RunId id) {
  if (view_.loaded.count(id) > 0 || std::find(asked_.begin(), asked_.end(), id) != asked_.end()) return;
  asked_.push_back(id);
  view_.failed.erase(id);
  {
    const std::lock_guard lock(mutex_);
    requests_.loads.push_back(id);
  }
  changed_.notify_all();
}

void StoreReader::add_tag(RunId id, std::string tag) {
  ask({Change::Kind::add_tag, id, std::move(tag)});
}
void StoreReader::remove_tag(RunId id, std::string tag) {
  ask({Change::Kind::remove_tag, id, std::move(tag)});
}
void StoreReader::set_note(RunId id, std::string note) {
  ask({Change::Kind::set_note, id, std::move(note)});
}

void StoreReader::ask(Change change) {
  {
    const std::lock_guard lock(mutex_);
    requests_.changes.push_back(std::move(change));
  }
  changed_.notify_all();
}

void StoreReader::work() {
  WatchedStore file(path_, options_.patience);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Requests requests = std::exchange(requests_, {});
    working_ = true;
    lock.unlock();
    News news;
    news.answer(file, requests);
    lock.lock();
    working_ = false;
    const bool any = !news.empty();
    if (any && !news_) news_ = std::make_unique<News>();
    if (any) news_->add(std::move(news));
    changed_.notify_all();
    if (any && options_.wake) {
      lock.unlock();
      options_.wake();
      lock.lock();
    }
    changed_.wait_for(lock, options_.look_every, [this] { return stopping_ || !requests_.empty(); });
  }
}

bool StoreReader::poll() {
  std::unique_ptr<News> news;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !news_) return false;
    news = std::move(news_);
  }
  take(std::move(*news));
  return true;
}

void StoreReader::take(News news) {
  ++view_.revision;
  if (news.replaced) {
    view_.loaded.clear();
    view_.failed.clear();
    asked_.clear();  // what was answered from the file before was dropped with it
  }
  if (news.runs) {
    view_.runs = std::move(news.runs);
    view_.read = true;
  }
  // What could not be read may be readable now.
  const bool over = news.trouble_known && view_.trouble && !news.trouble;
  if (news.written || over) view_.failed.clear();
  if (news.trouble_known) view_.trouble = std::move(news.trouble);
  for (auto& [id, run] : news.loads) {
    std::erase(asked_, id);
    if (!run) {
      view_.failed.insert_or_assign(id, std::move(run).error());
      continue;
    }
    make_room();
    view_.loaded.insert_or_assign(id, *std::move(run));
  }
  view_.changes_answered += news.changes.size();
  for (std::optional<Error>& change : news.changes) view_.change_failed = std::move(change);
}

void StoreReader::make_room() {
  if (view_.loaded.size() < k_most_loaded) return;
  const auto droppable = std::find_if(view_.loaded.begin(), view_.loaded.end(), [this](const auto& each) {
    return std::find(kept_.begin(), kept_.end(), each.first) == kept_.end();
  });
  if (droppable != view_.loaded.end()) view_.loaded.erase(droppable);
}

void StoreReader::settle() {
  std::unique_lock lock(mutex_);
  requests_.look = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !working_ && requests_.empty(); });
  const std::unique_ptr<News> news = std::move(news_);
  lock.unlock();
  if (news) take(std::move(*news));
}

}  // namespace shardlab::view
