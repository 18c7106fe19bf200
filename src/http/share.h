#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocom/server_options.h"

namespace protocom {
class ScratchFolder;
}

namespace protocom::http {

/// How other devices join a shared session.
struct Invitation {
  std::vector<std::string> addresses = {};  ///< of the page, with the key; empty: the session is not shared
  std::string fingerprint = {};             ///< SHA-256 of the certificate, by which people recognise it
  std::filesystem::path keys = {};          ///< file of the key, where this machine itself needs none; else empty
};

/// How the page opens a session to other devices and closes it again; both empty: it cannot.
struct Sharing {
  std::function<void()> begin = {};  ///< throws Error, such as without a network
  std::function<void()> end = {};
};

/// A new API key and a self-signed certificate, with which other devices in the network can join one session. Both are
/// deleted with the object.
class Share {
 public:
  /// Makes both. Throws Error if OpenSSL fails or temporary files cannot be written.
  Share();
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Makes a server listen to the network, with TLS and the key.
  void apply(ServerOptions& options) const;

  /// Returns addresses of the page in this machine's networks, with the key behind "#", which browsers do not send:
  /// "https://192.168.1.20:8080/#key=pcm_...". Empty: it is in no network.
  [[nodiscard]] std::vector<std::string> addresses(int port) const;

  /// Fingerprint of the certificate, "3A:5F:...".
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
  /// Returns addresses and fingerprint.
  [[nodiscard]] Invitation invitation(int port) const { return {addresses(port), fingerprint_}; }

 private:
  std::unique_ptr<const ScratchFolder> folder_;
  std::vector<std::string> hosts_;  // IPv4 addresses of this machine, without loopback
  std::string key_, fingerprint_;
};

}  // namespace protocom::http
