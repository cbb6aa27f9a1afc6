#include "engine/formats/tools/import_subject.h"

#include <algorithm>
#include <utility>

namespace shardlab {

const ForeignValue* ImportSubject::in_accelerate(std::string_view key) const {
  return accelerate == nullptr ? nullptr : accelerate->find(key);
}

const ForeignValue* ImportSubject::in_deepspeed(std::string_view key) const {
  return deepspeed == nullptr ? nullptr : deepspeed->find(key);
}

const ForeignValue* ImportSubject::in_trainer(std::string_view key) const {
  return trainer == nullptr ? nullptr : trainer->find(key);
}

const ImportedSetting* ImportReading::find(std::string_view key) const {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const ImportedSetting& setting) { return setting.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

void ImportReading::set(ImportedSetting setting) {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const ImportedSetting& other) { return other.key == setting.key; });
  if (found == settings.end()) {
    settings.push_back(std::move(setting));
  } else {
    *found = std::move(setting);
  }
}

}  // namespace shardlab
