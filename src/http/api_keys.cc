#include "http/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom::http {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr EnumWord<Role> kRoles[] = {{Role::kRead, "read"}, {Role::kWrite, "write"}};

constexpr const char* kPrefix = "pcm_";  // so that a key that leaked into a repository can be searched for
constexpr int64_t kMostRequests = 1'000'000;

std::string hexadecimal(const unsigned char* bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string sha256_of(const std::string& text) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    fail("OpenSSL cannot compute SHA-256");
  return hexadecimal(digest.data(), size);
}

std::string random_text() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) fail("OpenSSL has no random numbers");
  return kPrefix + hexadecimal(bytes.data(), bytes.size());
}

void check_rate(int64_t per_minute) {
  if (per_minute < 1 || per_minute > kMostRequests)
    fail_usage("requests a minute: expected 1 to {}, found {}", kMostRequests, per_minute);
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

ApiKey key_of(const json& item, const fs::path& path) {
  ApiKey key;
  try {
    item.at("name").get_to(key.name);
    key.role = parse_role(item.at("role").get<std::string>());
    item.at("sha256").get_to(key.sha256);
    key.per_minute = whole_number<int64_t>(item.at("per_minute"));
    check_rate(key.per_minute);
  } catch (const std::exception& error) {
    fail("{}: a key is damaged: {}", path.string(), reason_of(error));
  }
  if (!is_sha256(key.sha256)) fail("{}: the hash of key '{}' is damaged", path.string(), excerpt(key.name));
  return key;
}

void check_private(const fs::path& path) {
  constexpr mode_t kOthers = 077;
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && (facts.st_mode & kOthers) != 0)
    fail("{} can be read by others: chmod 600 {}", path.string(), path.string());
}

}  // namespace

Role parse_role(std::string_view text) { return value_of(kRoles, text, "role of a key"); }

std::string_view to_string(Role role) { return word_of(kRoles, role); }

ApiKeys ApiKeys::read(const fs::path& path) {
  const json file = read_json(path);
  check_private(path);
  if (!file.is_object() || !file.contains("keys") || !file["keys"].is_array())
    fail("{} is not a file of API keys: make one by `protocom keys add`", path.string());
  ApiKeys keys;
  for (const json& key : file["keys"]) keys.keys_.push_back(key_of(key, path));
  return keys;
}

void ApiKeys::write(const fs::path& path) const {
  json list = json::array();
  for (const ApiKey& key : keys_)
    list.push_back(
        {{"name", key.name}, {"role", to_string(key.role)}, {"sha256", key.sha256}, {"per_minute", key.per_minute}});
  const std::string text = json_text(json{{"keys", list}}, 1) + "\n";
  std::error_code ignored;
  fs::exists(path, ignored) ? write_file(path, text) : write_new_file(path, text);
}

std::string ApiKeys::add(ApiKey key) {
  if (key.name.empty()) fail_usage("a key needs a name");
  check_rate(key.per_minute);
  for (const ApiKey& api_key : keys_) {
    if (api_key.name == key.name) fail_usage("the key '{}' exists already", key.name);
  }
  const std::string text = random_text();
  key.sha256 = sha256_of(text);
  keys_.push_back(std::move(key));
  return text;
}

void ApiKeys::remove(const std::string& name) {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const ApiKey& api_key) { return api_key.name == name; });
  if (found == keys_.end()) fail_usage("unknown key '{}'", excerpt(name));
  keys_.erase(found);
}

std::optional<ApiKey> ApiKeys::find(const std::string& text) const {
  const std::string hash = sha256_of(text);
  std::optional<ApiKey> found;
  for (const ApiKey& key : keys_) {
    if (CRYPTO_memcmp(key.sha256.data(), hash.data(), hash.size()) == 0) found = key;
  }
  return found;
}

}  // namespace protocom::http
