#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::http {

/// What a key allows: kWrite is everything that changes the recognizer, and kRead.
enum class Role { kRead, kWrite };

/// "read" or "write". Throws UsageError for another word.
Role parse_role(std::string_view text);
/// The same words.
std::string_view to_string(Role role);

/// A key as it is kept: only its hash, which cannot be inverted, since keys are 256 random bits.
struct ApiKey {
  std::string name;          ///< whose it is
  Role role = Role::kRead;   ///< what it allows
  std::string sha256;        ///< of the key's text, 64 hexadecimal digits
  int64_t per_minute = 600;  ///< requests
};

/// The keys of a server, in a file of JSON that only its owner may read (docs/formats.md, "API keys").
class ApiKeys {
 public:
  /// None.
  ApiKeys() = default;
  /// Those of a file. Throws Error when it cannot be read, others than its owner may read it, or it is damaged.
  static ApiKeys read(const std::filesystem::path& path);
  /// Makes the file or replaces it. Throws Error.
  void write(const std::filesystem::path& path) const;

  [[nodiscard]] const std::vector<ApiKey>& all() const { return keys_; }
  /// Makes a key, keeps its hash and returns its text, which is nowhere else. `sha256` of the argument is ignored.
  /// Throws UsageError for an empty name, one that is taken, or a rate below 1.
  std::string add(ApiKey key);
  /// Throws UsageError when there is none of that name.
  void remove(const std::string& name);
  /// The key of that text; nothing when there is none. Takes the same time for all.
  [[nodiscard]] std::optional<ApiKey> find(const std::string& text) const;

 private:
  std::vector<ApiKey> keys_;
};

}  // namespace protocom::http
