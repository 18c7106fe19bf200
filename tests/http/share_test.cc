// A session that other devices on the network join.
#include "http/share.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "http/qr_code.h"
#include "http/server_support.h"

namespace protocom::testing {
namespace {

namespace sockets = boost::asio;
using ::testing::HasSubstr;

/// Returns the server's response to a client with that key, which connects by TLS.
std::string asked_over_tls(int port, const std::string& key, sockets::ssl::context& trust) {
  sockets::io_context context;
  sockets::ssl::stream<sockets::ip::tcp::socket> stream(context, trust);
  stream.next_layer().connect({sockets::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
  stream.handshake(sockets::ssl::stream_base::client);
  const std::string request = "GET /v1/classes HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" +
                              (key.empty() ? "" : "Authorization: Bearer " + key + "\r\n") + "\r\n";
  sockets::write(stream, sockets::buffer(request));
  std::string answer;
  boost::system::error_code end;
  sockets::read(stream, sockets::dynamic_buffer(answer), end);
  return answer;
}

class Shared : public Served {
 protected:
  /// Returns the server's response to a client that trusts its certificate for 127.0.0.1.
  [[nodiscard]] std::string told(const std::string& key) const {
    ServerOptions options;
    share_.apply(options);
    sockets::ssl::context trust(sockets::ssl::context::tls_client);
    trust.load_verify_file(options.certificate.string());
    trust.set_verify_mode(sockets::ssl::verify_peer);
    trust.set_verify_callback(sockets::ssl::host_name_verification("127.0.0.1"));
    return asked_over_tls(port(), key, trust);
  }
  void share() {
    ServerOptions options;
    share_.apply(options);
    EXPECT_EQ(options.address, "0.0.0.0");
    serve(options);
  }

  http::Share share_;
};

TEST_F(Shared, IsServedByTlsToWhoHasItsKey) {
  share();
  EXPECT_THAT(told(""), HasSubstr("HTTP/1.1 401"));
  EXPECT_THAT(told("pcm_other"), HasSubstr("HTTP/1.1 401"));
  for (const std::string& address : share_.addresses(port())) {
    EXPECT_EQ(address.rfind("https://", 0), 0U);
    const size_t key = address.find("/#key=pcm_");
    ASSERT_NE(key, std::string::npos) << address;
    EXPECT_THAT(address.substr(0, key), HasSubstr(":" + std::to_string(port())));
    EXPECT_THAT(told(address.substr(key + 6)), HasSubstr("HTTP/1.1 200"));
  }
}

TEST_F(Served, TellsHowOthersJoinOnceItIsShared) {
  serve();
  EXPECT_EQ(ask("GET", "/v1/share").json().at("addresses"), nlohmann::json::array());
  const std::string address = "https://192.0.2.7:8080/#key=pcm_abc";
  server_->invite({{address, "https://198.51.100.7:8080/#key=pcm_abc"}, "3A:5F"});
  const nlohmann::json told = ask("GET", "/v1/share").json();
  EXPECT_EQ(told.at("addresses").at(0), address);
  EXPECT_EQ(told.at("code"), nlohmann::json(http::qr_code(address)));
  EXPECT_EQ(told.at("fingerprint"), "3A:5F");
}

TEST_F(Served, IsSharedAndNoLongerSharedWhileItRuns) {
  serve();
  const Reply begun = ask("POST", "/v1/share");
  if (begun.status == 409) {
    EXPECT_THAT(begun.error(), HasSubstr("no network address"));
    GTEST_SKIP() << "this machine is in no network";
  }
  ASSERT_EQ(begun.status, 200) << begun.body;
  const std::string address = begun.json().at("addresses").at(0);
  const size_t key_at = address.find("/#key=");
  ASSERT_NE(key_at, std::string::npos) << address;
  const std::string key = address.substr(key_at + 6);
  const int other_port = std::stoi(address.substr(address.rfind(':', key_at) + 1));
  EXPECT_NE(other_port, port());
  sockets::ssl::context trust(sockets::ssl::context::tls_client);  // any certificate
  EXPECT_THAT(asked_over_tls(other_port, key, trust), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(asked_over_tls(other_port, "", trust), HasSubstr("HTTP/1.1 401"));
  EXPECT_THAT(asked_over_tls(other_port, "pcm_other", trust), HasSubstr("HTTP/1.1 401"));
  EXPECT_EQ(ask("GET", "/v1/classes").status, 200) << "this machine needs no key";
  EXPECT_EQ(ask("POST", "/v1/share").json(), begun.json()) << "it is shared already";
  EXPECT_EQ(ask("DELETE", "/v1/share").json().at("addresses"), nlohmann::json::array());
  EXPECT_THROW(asked_over_tls(other_port, key, trust), boost::system::system_error);
  EXPECT_NE(ask("POST", "/v1/share").json().at("addresses").at(0), address) << "with another key";
}

TEST_F(Served, IsNotSharedForPagesOfOtherSitesNorIfItHasKeys) {
  serve();
  EXPECT_EQ(ask("GET", "/v1/share").json().at("can_share"), true);
  EXPECT_EQ(ask("POST", "/v1/share", "", {{"Origin", "https://other.example"}}).status, 403);
  EXPECT_EQ(ask("POST", "/v1/share", "", {{"Host", "other.example"}}).status, 403);
  http::ApiKeys keys;
  http::ApiKey one;
  one.name = "owner";
  one.role = http::Role::kWrite;
  const Headers with_key = {{"Authorization", "Bearer " + keys.add(one)}};
  keys.write(folder_ / "keys.json");
  ServerOptions options;
  options.keys = folder_ / "keys.json";
  serve(options);
  EXPECT_EQ(ask("GET", "/v1/share", "", with_key).json().at("can_share"), false);
  const Reply refused = ask("POST", "/v1/share", "", with_key);
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.error(), HasSubstr("serve --share"));
  EXPECT_EQ(ask("DELETE", "/v1/share", "", with_key).status, 409);
}

TEST_F(Shared, HasACertificateOfItsOwnWithThisMachinesAddresses) {
  ServerOptions options, others;
  share_.apply(options);
  FILE* file = std::fopen(options.certificate.c_str(), "r");
  X509* read = PEM_read_X509(file, nullptr, nullptr, nullptr);
  std::fclose(file);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(X509_check_ip_asc(read, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(read, "192.0.2.77", 0), 0);
  for (const std::string& address : share_.addresses(1))
    EXPECT_EQ(X509_check_ip_asc(read, address.substr(8, address.find(':', 8) - 8).c_str(), 0), 1) << address;
  EXPECT_EQ(X509_check_purpose(read, X509_PURPOSE_SSL_SERVER, 0), 1);
  X509_free(read);
  EXPECT_EQ(share_.fingerprint().size(), 32U * 3 - 1);
  EXPECT_NE(http::Share().fingerprint(), share_.fingerprint());
  struct stat facts {};
  for (const fs::path& path : {options.private_key, options.keys}) {
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    ASSERT_EQ(::stat(path.parent_path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 077U, 0U) << "its owner's alone";
  }
}

TEST(SharedFiles, AreGoneWithTheSession) {
  ServerOptions options;
  http::Share().apply(options);
  EXPECT_FALSE(fs::exists(options.private_key));
  EXPECT_FALSE(fs::exists(options.keys.parent_path()));
}

}  // namespace
}  // namespace protocom::testing
