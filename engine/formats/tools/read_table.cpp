#include "engine/formats/tools/read_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace shardlab {
namespace {

std::string full_key(const ToolTable& table, const ToolKey& key) {
  return table.section.empty() ? std::string(key.key) : fmt::format("{}.{}", table.section, key.key);
}

void read_key(const ToolTable& table, const ToolKey& key, const ForeignValue& file,
              const ImportSubject& subject, ImportReading& reading) {
  const std::string from = full_key(table, key);
  const ForeignValue* const value = file.find(from);
  ReadBack read = key.read(subject, value);
  if (read.kind == ReadBack::Kind::leave) return;
  ImportedSetting setting;
  setting.key = key.setting;
  setting.is_set = read.kind == ReadBack::Kind::set;
  setting.value = std::move(read.value);
  setting.value.place = value == nullptr ? in_file(file.place.file) : value->place;
  setting.from = from;
  setting.note = std::move(read.note);
  setting.origin = value == nullptr      ? ImportedSetting::Origin::assumed
                   : is_automatic(value) ? ImportedSetting::Origin::filled
                                         : ImportedSetting::Origin::said;
  if (value == nullptr && setting.note.empty())
    setting.note = fmt::format("the file leaves {} out: {}", from, key.absent);
  // Where several keys say one setting, what is said counts more than what is left out.
  const ImportedSetting* const earlier = reading.find(setting.key);
  if (earlier != nullptr && value == nullptr && earlier->origin != ImportedSetting::Origin::assumed) return;
  reading.set(std::move(setting));
}

bool is_read(std::span<const ToolTable> tables, std::string_view key) {
  for (const ToolTable& table : tables) {
    for (const ToolKey& row : table.keys) {
      if (row.read != nullptr && full_key(table, row) == key) return true;
    }
  }
  return false;
}

class UnreadLister {
 public:
  UnreadLister(std::span<const ToolTable> tables, const JudgeUnread& judge, ImportReading& reading)
      : tables_(tables), judge_(judge), reading_(reading) {}

  void list(const ForeignValue& map, const std::string& path) {
    for (const ForeignEntry& entry : map.entries) {
      const std::string key = path.empty() ? entry.key : path + "." + entry.key;
      if (entry.value.is_null() || (!entry.value.is_map() && is_read(tables_, key))) continue;
      const UnreadVerdict verdict = judge_(key, entry.value);
      if (verdict.kind == UnreadKind::said) continue;
      if (verdict.kind == UnreadKind::lost && entry.value.is_map())
        list(entry.value, key);
      else
        add(key, entry, verdict);
    }
  }

 private:
  void add(const std::string& key, const ForeignEntry& entry, const UnreadVerdict& verdict) {
    const bool quiet = verdict.kind == UnreadKind::quiet;
    const std::string_view usual =
        quiet ? "nothing of a step depends on it" : "a scenario has no such setting";
    reading_.differences.push_back({key, quiet ? DifferenceKind::elsewhere : DifferenceKind::lost,
                                    shown(entry.value), "",
                                    std::string(verdict.why.empty() ? usual : verdict.why), entry.place});
  }

  std::span<const ToolTable> tables_;
  const JudgeUnread& judge_;
  ImportReading& reading_;
};

}  // namespace

void read_tables(std::span<const ToolTable> tables, const ForeignValue& file, const ImportSubject& subject,
                 ImportReading& reading) {
  for (const ToolTable& table : tables) {
    for (const ToolKey& key : table.keys) {
      if (key.read != nullptr) read_key(table, key, file, subject, reading);
    }
  }
}

void list_unread(std::span<const ToolTable> tables, const ForeignValue& file, const JudgeUnread& judge,
                 ImportReading& reading) {
  UnreadLister(tables, judge, reading).list(file, {});
}

bool has_known_value(std::span<const KnownValue> known, std::string_view key, const ForeignValue& value) {
  return std::any_of(known.begin(), known.end(), [&](const KnownValue& row) {
    if (row.first != key) return false;
    const auto number = json_scalar(row.second);
    if (number && number->is_number() && value.is_number()) return number->number == value.number;
    return shown(value) == row.second;
  });
}

bool is_among(std::span<const std::string_view> keys, std::string_view key) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view start) {
    return key == start || (key.starts_with(start) && key[start.size()] == '.');
  });
}

}  // namespace shardlab
