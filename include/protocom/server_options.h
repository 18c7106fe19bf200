#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/recognizer_options.h"

namespace protocom::v0 {

/// Limits on clients, as in docs/server.md.
struct ServerLimits {
  int64_t body_bytes = int64_t{64} << 20;      ///< body of a request
  int64_t json_bytes = int64_t{8} << 20;       ///< JSON body; parsing takes several times as much memory
  int64_t header_bytes = int64_t{16} << 10;    ///< request line and headers
  int64_t pixels = 64'000'000;                 ///< pixels of a decoded image, checked in its header before decoding
  int64_t request_pixels = 250'000'000;        ///< total over the images of a request
  int64_t parts = 64;                          ///< parts of a multipart body
  int64_t rows = 1000;                         ///< features in one request
  int64_t connections = 512;                   ///< open at once; fewer if the process may open fewer files
  int64_t bodies = 256;                        ///< being received at once
  int64_t requests = 256;                      ///< received and not yet answered
  int64_t waiting_bytes = int64_t{256} << 20;  ///< total of these bodies and of unread responses
  int64_t waiting_images = 1024;               ///< decoded and waiting for the backbone
  std::chrono::seconds head{30};               ///< for a request's headers, and between requests of a connection
  std::chrono::seconds body{60};               ///< for a request's body
  std::chrono::seconds answer{60};             ///< how long an image may wait for the encoder
  std::chrono::seconds file{5};                ///< how long another program may lock the recognizer's file
  std::chrono::seconds write{30};              ///< for a client to read a response
  std::chrono::seconds stop{20};               ///< for requests in progress when the server is stopped
};

/// Options for how a Server is reached (docs/server.md).
struct ServerOptions {
  std::string address = "127.0.0.1";       ///< address to listen on; any but a loopback address needs keys
  int port = 8080;                         ///< 0: a free one
  std::filesystem::path keys = {};         ///< a file of `protocom keys`; empty: no keys are needed
  std::filesystem::path certificate = {};  ///< PEM, with its chain; empty: no TLS
  std::filesystem::path private_key = {};  ///< PEM
  std::vector<std::string> origins =
      {};           ///< other sites whose pages may send requests ("https://shop.example"; "*": all); needs keys
  int workers = 0;  ///< threads that decode; 0: one per core, at least two
  int lanes = 0;    ///< threads that run the encoder, each with its weights; 0: one per core, at most 4; one on a GPU
  ServerLimits limits = {};
  /// The folder of the text encoder that the recognizers were made with, for descriptions of classes in words; empty:
  /// none.
  std::filesystem::path text_encoder = {};
  RecognizerOptions recognizing = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::ServerLimits;
using v0::ServerOptions;
}  // namespace protocom
