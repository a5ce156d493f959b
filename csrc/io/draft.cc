// Names of drafts, and whose they are; see draft.h.

#include "io/draft.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string_view>

namespace tfr {
namespace {

constexpr int kMaxLinks = 40;          // as the kernel
constexpr size_t kMaxNameBytes = 180;  // of the file's name in its draft's: names have at most 255 bytes
constexpr std::string_view kSuffix = ".tmp";
constexpr std::string_view kUnknown = "0";

// With its slash; empty for a name in the current folder.
std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }
std::string NameIn(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The beginning of a file that the kernel makes up; empty if it can't be read.
std::string ReadSystemFile(const std::string& path) {
  char text[1024];
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  ssize_t size;
  do size = ::read(descriptor, text, sizeof(text));
  while (size < 0 && errno == EINTR);
  ::close(descriptor);
  return std::string(text, size < 0 ? 0 : static_cast<size_t>(size));
}

// Empty, with errno set, if it can't be read.
std::string LinkTarget(const std::string& path) {
  char text[4096];
  const ssize_t size = ::readlink(path.c_str(), text, sizeof(text));
  return std::string(text, size < 0 ? 0 : static_cast<size_t>(size));
}

// When a process was started, in the system's clock ticks; "" if unknown.
std::string StartOf(const std::string& process) {
  constexpr int kFieldsBefore = 20;  // proc(5): the name in parentheses is field 2, the start is field 22
  const std::string status = ReadSystemFile("/proc/" + process + "/stat");
  size_t at = status.rfind(')');
  for (int i = 0; i < kFieldsBefore && at != std::string::npos; ++i) at = status.find(' ', at + 1);
  if (at == std::string::npos) return "";
  const size_t end = status.find(' ', at + 1);
  return end == std::string::npos ? "" : status.substr(at + 1, end - at - 1);
}

// The running system and the namespace that process numbers belong to; "" if unknown.
std::string ProcessNumbers() {
#if defined(__APPLE__)
  char boot[64];
  size_t size = sizeof(boot);
  return ::sysctlbyname("kern.bootsessionuuid", boot, &size, nullptr, 0) == 0 ? std::string(boot, size) : "";
#else
  const std::string boot = ReadSystemFile("/proc/sys/kernel/random/boot_id");
  const std::string processes = LinkTarget("/proc/self/ns/pid");
  return boot.empty() || processes.empty() ? "" : boot + processes;
#endif
}

// ProcessNumbers and the host's name, as 16 hexadecimal digits.
std::string HostMark() {
  const std::string numbers = ProcessNumbers();
  char name[256] = "";
  (void)::gethostname(name, sizeof(name) - 1);
  if (numbers.empty()) return std::string(kUnknown);
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : numbers + name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

std::string Stem(const std::string& path) { return "." + NameIn(path).substr(0, kMaxNameBytes) + "."; }

std::string DraftOf(const std::string& path) {
  std::string start = StartOf("self");
  if (start.empty()) start = kUnknown;
  const std::string mark = std::to_string(::getpid()) + "-" + start + "-" + HostMark() + "-";
  return FolderOf(path) + Stem(path) + mark + std::to_string(std::random_device()()) + std::string(kSuffix);
}

// True if the process that made this mark has certainly ended.
bool HasEnded(const std::string& mark, const std::string& host) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= mark.size();) {
    const size_t end = std::min(mark.find('-', begin), mark.size());
    parts.push_back(mark.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() != 4 || parts[2] != host || host == kUnknown) return false;
  const std::string& process = parts[0];
  if (process.empty() || process.size() > 9 || process.find_first_not_of("0123456789") != std::string::npos)
    return false;
  if (::kill(static_cast<pid_t>(std::stol(process)), 0) != 0 && errno == ESRCH) return true;
  const std::string start = StartOf(process);
  return !start.empty() && parts[1] != kUnknown && start != parts[1];  // the number now belongs to another process
}

// The names in /proc of what a process has open are links that only the kernel can follow.
bool IsInProc(const struct stat& info) {
  struct stat proc;
  return ::stat("/proc/self", &proc) == 0 && info.st_dev == proc.st_dev;
}

}  // namespace

Status FindTarget(const std::string& path, Target* target) {
  *target = {path, ""};
  std::string at = path;
  struct stat info;
  bool exists = false;
  for (int links = 0;; ++links) {
    exists = ::lstat(at.c_str(), &info) == 0;
    // A path that lstat can't inspect may be a link or a device.
    if (!exists && errno != ENOENT && errno != ENOTDIR) return Status::Errno(errno, "lstat").WithPath(path);
    if (!exists || !S_ISLNK(info.st_mode)) break;
    if (links == kMaxLinks) return Status::Errno(ELOOP, "open").WithPath(path);
    if (IsInProc(info)) return {};
    const std::string next = LinkTarget(at);
    if (next.empty()) return Status::Errno(errno, "readlink").WithPath(path);
    at = next.empty() || next[0] == '/' ? next : FolderOf(at) + next;
  }
  if (exists && !S_ISREG(info.st_mode)) return {};
  *target = {at, DraftOf(at)};
  return {};
}

void RemoveAbandonedDrafts(const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<std::string>> stems;  // by folder
  for (const std::string& path : paths) stems[FolderOf(path)].push_back(Stem(path));
  const std::string host = HostMark();
  for (auto& [folder, wanted] : stems) {
    std::sort(wanted.begin(), wanted.end());
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.empty() ? "." : folder.c_str()), &::closedir);
    if (!entries) continue;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string name = entry->d_name;
      if (name[0] != '.' || name.size() <= kSuffix.size() || !name.ends_with(kSuffix)) continue;
      const std::string marked = name.substr(0, name.size() - kSuffix.size());
      const size_t stem_end = marked.rfind('.') + 1;
      if (!std::binary_search(wanted.begin(), wanted.end(), marked.substr(0, stem_end))) continue;
      if (HasEnded(marked.substr(stem_end), host)) (void)::unlinkat(::dirfd(entries.get()), name.c_str(), 0);
    }
  }
}

}  // namespace tfr
