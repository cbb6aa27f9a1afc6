// Folders of swap as open descriptors, so that nobody can put a link where a name was looked at.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/execute/swap/owned_descriptor.h"

namespace shardlab {

// The folder that the user names, to which a link may lead. bad_input where it is none.
Result<OwnedDescriptor> open_drive_folder(const std::string& path);

// A folder below another, never through a link. Not open where there is none; errno says why.
OwnedDescriptor open_folder_at(int parent, const std::string& name);

// What stands in the way of using it as shardlab's own: "is a link, not a folder of shardlab's own", "is no
// folder", "belongs to another user". Empty where nothing does, or where nothing is there.
std::string foreign_folder(int parent, const std::string& name);

// Whether a lock's text, a host_identity() (engine/execute/machine.h), is of this host: by its name, which
// stays when it starts again, or by its kernel, which several containers share under names of their own.
bool is_this_host(std::string_view said);

}  // namespace shardlab
