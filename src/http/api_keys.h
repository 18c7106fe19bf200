#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::http {

/// The permissions of a key; kWrite allows everything that changes the recognizer, and what kRead allows.
enum class Role { kRead, kWrite };

/// Parses "read" or "write". Throws UsageError for another word.
Role parse_role(std::string_view text);
/// Returns "read" or "write".
std::string_view to_string(Role role);

/// A key as stored: only its hash, which cannot be inverted, since keys are 256 random bits.
struct ApiKey {
  std::string name;          ///< name of its owner
  Role role = Role::kRead;   ///< its permissions
  std::string sha256;        ///< hash of the key's text, 64 hexadecimal digits
  int64_t per_minute = 600;  ///< requests per minute
};

/// The keys of a server, in a file of JSON that only its owner may read (docs/formats.md, "API keys").
class ApiKeys {
 public:
  /// Has no keys.
  ApiKeys() = default;
  /// Reads a file of keys. Throws Error if it cannot be read, is readable by others than its owner, or is damaged.
  static ApiKeys read(const std::filesystem::path& path);
  /// Creates or replaces the file. Throws Error.
  void write(const std::filesystem::path& path) const;

  [[nodiscard]] const std::vector<ApiKey>& all() const { return keys_; }
  /// Makes a key, stores its hash and returns its text, which is not stored anywhere. `sha256` of the argument is
  /// ignored. Throws UsageError for an empty name, one that is taken, or a rate below 1.
  std::string add(ApiKey key);
  /// Throws UsageError if there is none of that name.
  void remove(const std::string& name);
  /// Returns the key with that text; nothing if there is none. Takes the same time for all texts.
  [[nodiscard]] std::optional<ApiKey> find(const std::string& text) const;

 private:
  std::vector<ApiKey> keys_;
};

}  // namespace protocom::http
