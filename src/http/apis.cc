#include "http/detail/apis.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "encoders/text_encoder.h"
#include "http/detail/target.h"

namespace protocom::http {
namespace fs = std::filesystem;
namespace {

/// First parts of the server's own paths.
constexpr std::array<std::string_view, 10> kTaken = {"v1",          "v2",      "docs",   "page",    "page.css",
                                                     "favicon.svg", "healthz", "readyz", "metrics", "openapi.json"};
/// The path below which the Open Inference Protocol names the recognizer.
constexpr std::string_view kModels = "/v2/models/";

std::vector<fs::path> recognizers_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".pcm") found.push_back(it->path());
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
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

Api* Apis::named(std::string_view part) const {
  const std::vector<std::string> path = path_of(part);
  const auto found = path.size() == 1 ? std::find(names_.begin(), names_.end(), path.front()) : names_.end();
  return found == names_.end() ? nullptr : apis_[static_cast<size_t>(found - names_.begin())].get();
}

Api& Apis::of(Head& head) const {
  if (names_.empty() || head.target.empty() || head.target.front() != '/') return first();
  const std::string_view target = head.target;
  if (target.substr(0, kModels.size()) == kModels) {
    const std::string_view rest = target.substr(kModels.size() - 1);  // "/birds/infer"
    Api* const api = named(rest.substr(0, rest.find_first_of("/?", 1)));
    return api == nullptr ? first() : *api;
  }
  const size_t end = target.find('/', 1);
  // Without the slash behind its name the page's own paths would lead to the first recognizer.
  if (end == std::string::npos) return first();
  Api* const api = named(target.substr(0, end));
  if (api == nullptr) return first();
  head.target.erase(0, end);
  return *api;
}

void Apis::invite(const Invitation& invitation) const {
  for (const std::unique_ptr<Api>& api : apis_) api->invite(invitation);
}

void Apis::allow_sharing(const Sharing& sharing) const {
  for (const std::unique_ptr<Api>& api : apis_) api->allow_sharing(sharing);
}

void Apis::stop_following() const {
  for (const std::unique_ptr<Api>& api : apis_) api->stop_following();
}

}  // namespace protocom::http
