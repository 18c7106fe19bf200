#include <openssl/pem.h>
#include <openssl/x509.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>

#include "base/error.h"
#include "http/server_support.h"
#include "support/message_of.h"

namespace protocom::testing {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;

/// Makes a self-signed certificate and its key.
void make_certificate(const fs::path& certificate, const fs::path& key) {
  EVP_PKEY* pair = EVP_RSA_gen(2048);
  X509* made = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), 0);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, pair);
  X509_NAME* name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(made, name);
  X509_sign(made, pair, EVP_sha256());
  FILE* file = std::fopen(certificate.c_str(), "w");
  PEM_write_X509(file, made);
  std::fclose(file);
  file = std::fopen(key.c_str(), "w");
  PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(made);
  EVP_PKEY_free(pair);
}

class Encrypted : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    make_certificate(folder_ / "c.pem", folder_ / "k.pem");
    options_.certificate = folder_ / "c.pem";
    options_.private_key = folder_ / "k.pem";
  }
  ServerOptions options_;
};

TEST_F(Encrypted, AnswersOverTls) {
  serve(options_);
  asio::io_context sockets;
  asio::ssl::context trust(asio::ssl::context::tls_client);
  trust.load_verify_file((folder_ / "c.pem").string());
  asio::ssl::stream<asio::ip::tcp::socket> stream(sockets, trust);
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(port())});
  stream.handshake(asio::ssl::stream_base::client);
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  asio::write(stream, asio::buffer(request));
  std::string answer;
  boost::system::error_code end;
  asio::read(stream, asio::dynamic_buffer(answer), end);
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("\"ok\""));
}

/// Returns the cipher negotiated by a client of TLS 1.2 that offers these; empty if the handshake fails.
std::string cipher_of(int port, const char* offered) {
  asio::io_context sockets;
  asio::ssl::context trust(asio::ssl::context::tls_client);
  ::SSL_CTX_set_max_proto_version(trust.native_handle(), TLS1_2_VERSION);
  EXPECT_EQ(::SSL_CTX_set_cipher_list(trust.native_handle(), offered), 1) << offered;
  asio::ssl::stream<asio::ip::tcp::socket> stream(sockets, trust);
  stream.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
  boost::system::error_code refused;
  stream.handshake(asio::ssl::stream_base::client, refused);
  return refused ? "" : ::SSL_get_cipher_name(stream.native_handle());
}

TEST_F(Encrypted, TakesOnlyKeysThatAreLostWithTheConversation) {
  serve(options_);
  for (const char* weak : {"AES128-SHA", "AES256-SHA256", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256"})
    EXPECT_EQ(cipher_of(port(), weak), "") << weak;
  for (const char* good : {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305"})
    EXPECT_EQ(cipher_of(port(), good), good);
}

TEST_F(Encrypted, AClientWithoutTlsGetsNothingAndStopsNobody) {
  serve(options_);
  Client plain(port());
  plain.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(plain.receive().status, 0);
  server_->stop();
}

TEST_F(Encrypted, NamesACertificateThatIsNone) {
  write_file(folder_ / "c.pem", "no certificate");
  EXPECT_THAT(message_of([&] { serve(options_); }), HasSubstr("c.pem is not a certificate"));
}

}  // namespace
}  // namespace protocom::testing
