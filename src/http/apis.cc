#include "http/detail/apis.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "encoders/text_encoder.h"
#include "http/detail/target.h"

namespace protocom::http {
namespace fs = std::filesystem;
namespace {

/// How the server's own paths begin.
constexpr std::array<std::string_view, 8> kTaken = {"v1",      "page",   "page.css", "favicon.svg",
                                                    "healthz", "readyz", "metrics",  "openapi.json"};

std::vector<fs::path> recognizers_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".pcm") found.push_back(it->path());
  }
  if (error) fail("cannot list {}: {}", folder.string(), error.message());
  if (found.empty())
    fail("{}: no recognizer (*.pcm) in this folder: make one with `protocom recognizer create`", folder.string());
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) {
    if (std::find(kTaken.begin(), kTaken.end(), path.stem().string()) != kTaken.end())
      fail("{}: '{}' is a path of the server: rename this recognizer", path.string(), path.stem().string());
  }
  return found;
}

}  // namespace

Apis::Apis(const fs::path& recognizer, const ServerOptions& options) {
  std::shared_ptr<const TextEncoder> words;
  if (!options.text_encoder.empty())
    words = std::make_shared<const TextEncoder>(open_text_encoder(options.text_encoder));
  if (!fs::is_directory(recognizer)) {
    apis_.push_back(std::make_unique<Api>(recognizer, options, words));
    return;
  }
  const std::vector<fs::path> paths = recognizers_in(recognizer);
  for (const fs::path& path : paths) names_.push_back(path.stem().string());
  for (const fs::path& path : paths) apis_.push_back(std::make_unique<Api>(path, options, words, names_));
}

Api& Apis::of(Head& head) const {
  if (names_.empty() || head.target.empty() || head.target.front() != '/') return first();
  const size_t end = head.target.find('/', 1);
  // Without the slash behind its name the page's own paths would lead to the first recognizer.
  if (end == std::string::npos) return first();
  const std::vector<std::string> front = path_of(std::string_view(head.target).substr(0, end));
  const auto found = front.size() == 1 ? std::find(names_.begin(), names_.end(), front.front()) : names_.end();
  if (found == names_.end()) return first();
  head.target.erase(0, end);
  return *apis_[static_cast<size_t>(found - names_.begin())];
}

void Apis::stop_following() const {
  for (const std::unique_ptr<Api>& api : apis_) api->stop_following();
}

}  // namespace protocom::http
