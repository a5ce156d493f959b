// A store of objects for measurements: a folder as a bucket of S3, with a latency and a rate for each connection.
//
// Object keys are the names of files. It answers GET and HEAD with ranges and entity tags, and ListObjectsV2, and
// checks no signatures. One thread per connection, and the system sends the bytes, so that it isn't what is measured.
//
//   object_server FOLDER LATENCY_MS RATE_MB_PER_SECOND    prints its port; ends when its input does

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

std::string folder;
std::chrono::duration<double> latency;
double rate;  // bytes per second; 0: no bound

constexpr size_t kPiece = 256 << 10;

bool SendAll(int to, const std::string& text) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(to, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

void Wait(Clock::time_point until) { std::this_thread::sleep_until(until); }

bool SendBytes(int to, int file, int64_t begin, int64_t end) {
  const auto started = Clock::now();
  off_t at = begin;
  while (at < end) {
    const size_t now = std::min<size_t>(kPiece, static_cast<size_t>(end - at));
    const ssize_t n = ::sendfile(to, file, &at, now);
    if (n <= 0) return false;
    if (rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(at - begin) / rate);
      Wait(started + std::chrono::duration_cast<Clock::duration>(due));
    }
  }
  return true;
}

std::string Tag(const struct stat& info) {
  return "\"" + std::to_string(info.st_size) + "-" + std::to_string(info.st_mtim.tv_nsec) + "\"";
}

std::string Parameter(const std::string& query, const std::string& name) {
  const size_t at = ("&" + query).find("&" + name + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 1;
  std::string value = query.substr(begin, query.find('&', begin) - begin);
  std::string plain;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '%' && i + 2 < value.size()) {
      plain += static_cast<char>(std::strtol(value.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      plain += value[i];
    }
  }
  return plain;
}

std::string Listing(const std::string& bucket, const std::string& query) {
  constexpr size_t kPage = 1000;
  const std::string prefix = Parameter(query, "prefix");
  const std::string after = std::max(Parameter(query, "continuation-token"), Parameter(query, "start-after"));
  std::vector<std::string> names;
  if (DIR* open = ::opendir(folder.c_str())) {
    while (const dirent* entry = ::readdir(open)) {
      const std::string name = entry->d_name;
      if (name[0] != '.' && name.rfind(prefix, 0) == 0 && name > after) names.push_back(name);
    }
    ::closedir(open);
  }
  std::sort(names.begin(), names.end());
  const bool more = names.size() > kPage;
  if (more) names.resize(kPage);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult><Name>" + bucket + "</Name><Prefix>" +
                     prefix + "</Prefix><KeyCount>" + std::to_string(names.size()) +
                     "</KeyCount><MaxKeys>1000</MaxKeys>" + "<IsTruncated>" + (more ? "true" : "false") +
                     "</IsTruncated>";
  if (more) text += "<NextContinuationToken>" + names.back() + "</NextContinuationToken>";
  for (const std::string& name : names) {
    struct stat info;
    if (::stat((folder + "/" + name).c_str(), &info) != 0) continue;
    text += "<Contents><Key>" + name + "</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>" + Tag(info) +
            "</ETag><Size>" + std::to_string(info.st_size) + "</Size><StorageClass>STANDARD</StorageClass></Contents>";
  }
  return text + "</ListBucketResult>";
}

bool Answer(int to, const std::string& head) {
  const bool has_body = head.rfind("HEAD", 0) != 0;
  const size_t begin = head.find(' ') + 1;
  std::string target = head.substr(begin, head.find(' ', begin) - begin);
  std::string query;
  if (const size_t mark = target.find('?'); mark != std::string::npos) {
    query = target.substr(mark + 1);
    target.resize(mark);
  }
  Wait(Clock::now() + std::chrono::duration_cast<Clock::duration>(latency));
  const size_t slash = target.find('/', 1);
  const std::string bucket = target.substr(1, slash == std::string::npos ? slash : slash - 1);
  const std::string key = slash == std::string::npos ? "" : target.substr(slash + 1);
  if (key.empty()) {
    const std::string body = Listing(bucket, query);
    return SendAll(to, "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n" + (has_body ? body : ""));
  }
  const int file = ::open((folder + "/" + key).c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || ::fstat(file, &info) != 0) {
    return SendAll(to, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  }
  long long first = 0, last = info.st_size - 1;
  std::string lower = head;
  std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
  const size_t range = lower.find("\r\nrange: bytes=");
  if (range != std::string::npos) {
    if (std::sscanf(lower.c_str() + range, "\r\nrange: bytes=%lld-%lld", &first, &last) < 1) first = 0;
    last = std::min<long long>(last, info.st_size - 1);
  }
  std::string text = range == std::string::npos ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n";
  if (range != std::string::npos) {
    text += "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
            std::to_string(info.st_size) + "\r\n";
  }
  text += "Content-Length: " + std::to_string(last + 1 - first) + "\r\nETag: " + Tag(info) +
          "\r\nAccept-Ranges: bytes\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: "
          "application/octet-stream\r\n\r\n";
  const bool sent = SendAll(to, text) && (!has_body || SendBytes(to, file, first, last + 1));
  ::close(file);
  return sent;
}

void Serve(int connection) {
  const int on = 1;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::string held;
  char bytes[16 << 10];
  while (true) {
    const size_t end = held.find("\r\n\r\n");
    if (end == std::string::npos) {
      const ssize_t n = ::recv(connection, bytes, sizeof bytes, 0);
      if (n <= 0) break;
      held.append(bytes, static_cast<size_t>(n));
      continue;
    }
    if (!Answer(connection, held.substr(0, end + 2))) break;
    held.erase(0, end + 4);
  }
  ::close(connection);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  folder = argv[1];
  latency = std::chrono::duration<double>(std::atof(argv[2]) / 1e3);
  rate = std::atof(argv[3]) * 1e6;
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening, plain, size) != 0 || ::listen(listening, 256) != 0) return 1;
  ::getsockname(listening, plain, &size);
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  std::thread([listening] {
    while (true) {
      const int connection = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0) std::thread(Serve, connection).detach();
    }
  }).detach();
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);
}
