// Drafts: a file that shall appear complete, or not at all, is written under a hidden name beside its own, then
// renamed.
//
// A draft is called `.NAME.PID-START-HOST-RANDOM.tmp`. Ordinary patterns never match it. START is when its process was
// started, HOST identifies the running system and its process namespace: together they show if that process still
// exists. One that was killed leaves its draft behind, and the next writer of the same file removes it. A draft from
// another machine or container stays.

#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace tfr {

// How to write a file.
struct Target {
  std::string path;   // where the file is or will be: symbolic links have been followed
  std::string draft;  // the file to write and then rename to `path`; if empty, `path` is written in place
};

// Only regular files are replaced, and names that don't exist yet are created. A symbolic link stays, and what it
// points to is replaced. All else (devices, pipes, names of open descriptors such as /dev/stdout) is written to as it
// is. kIoError if links form a circle. Nothing is created.
Status FindTarget(const std::string& path, Target* target);

// Removes the drafts of these files (`Target::path`) whose processes no longer exist. Errors are ignored.
void RemoveAbandonedDrafts(const std::vector<std::string>& paths);

}  // namespace tfr
