#include "http/share.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>

#include "base/error.h"
#include "http/api_keys.h"
#include "io/files.h"
#include "io/scratch_folder.h"

namespace protocom::http {
namespace {

constexpr int64_t kRequestsAMinute = 6000;  ///< a page with many photos requests each thumbnail
constexpr int kValidDays = 7;

template <typename T, void (*Free)(T*)>
struct Freed {
  void operator()(T* one) const { Free(one); }
};
using Pair = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, &EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509, &X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION, &X509_EXTENSION_free>>;

void check_made(bool made) {
  if (!made) fail("OpenSSL cannot make a certificate");
}

std::vector<std::string> own_hosts() {
  std::vector<std::string> hosts;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return hosts;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool counts = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!counts || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr) hosts.emplace_back(text.data());
  }
  ::freeifaddrs(all);
  return hosts;
}

/// Returns the certificate's alternative names: without the addresses browsers would not even offer to continue.
std::string alternative_names(const std::vector<std::string>& hosts) {
  std::string names = "DNS:localhost,IP:127.0.0.1";
  for (const std::string& host : hosts) names += ",IP:" + host;
  return names;
}

void extend(X509& certificate, int name, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &certificate, &certificate, nullptr, nullptr, 0);
  const Extension made(X509V3_EXT_conf_nid(nullptr, &context, name, value.c_str()));
  check_made(made != nullptr && X509_add_ext(&certificate, made.get(), -1) == 1);
}

void set_serial(X509& certificate) {
  std::array<unsigned char, 8> bytes{};
  check_made(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  int64_t serial = 0;
  for (const unsigned char byte : bytes) serial = (serial << 8 | byte) & INT64_MAX;
  check_made(ASN1_INTEGER_set_int64(X509_get_serialNumber(&certificate), serial) == 1);
}

Certificate self_signed_certificate(EVP_PKEY* pair, const std::vector<std::string>& hosts) {
  Certificate made(X509_new());
  check_made(made != nullptr && X509_set_version(made.get(), X509_VERSION_3) == 1);
  set_serial(*made);
  check_made(X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600) != nullptr &&
             X509_time_adj_ex(X509_getm_notAfter(made.get()), kValidDays, 0, nullptr) != nullptr &&
             X509_set_pubkey(made.get(), pair) == 1);
  X509_NAME* name = X509_get_subject_name(made.get());
  const auto* called = reinterpret_cast<const unsigned char*>("protocom serve --share");
  check_made(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, called, -1, -1, 0) == 1 &&
             X509_set_issuer_name(made.get(), name) == 1);
  extend(*made, NID_basic_constraints, "critical,CA:FALSE");
  extend(*made, NID_ext_key_usage, "serverAuth");
  extend(*made, NID_subject_alt_name, alternative_names(hosts));
  check_made(X509_sign(made.get(), pair, EVP_sha256()) > 0);
  return made;
}

/// Stores the output of `write` in a file that only its owner can read.
template <typename Write>
void write_pem(const std::filesystem::path& path, const Write& write) {
  const std::unique_ptr<BIO, Freed<BIO, &BIO_free_all>> memory(BIO_new(BIO_s_mem()));
  check_made(memory != nullptr && write(memory.get()) == 1);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &text);
  write_file(path, {text, static_cast<size_t>(size)});
}

std::string fingerprint_of(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  check_made(X509_digest(&certificate, EVP_sha256(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest[i]);
  return text;
}

}  // namespace

Share::~Share() = default;

Share::Share() : folder_(std::make_unique<const ScratchFolder>()), hosts_(own_hosts()) {
  const Pair pair(EVP_EC_gen("P-256"));
  check_made(pair != nullptr);
  const Certificate certificate = self_signed_certificate(pair.get(), hosts_);
  fingerprint_ = fingerprint_of(*certificate);
  write_pem(folder_->path() / "certificate.pem", [&](BIO* to) { return PEM_write_bio_X509(to, certificate.get()); });
  write_pem(folder_->path() / "key.pem",
            [&](BIO* to) { return PEM_write_bio_PrivateKey(to, pair.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  ApiKeys keys;
  ApiKey key;
  key.name = "share";
  key.role = Role::kWrite;
  key.per_minute = kRequestsAMinute;
  key_ = keys.add(key);
  keys.write(folder_->path() / "keys.json");
}

void Share::apply(ServerOptions& options) const {
  options.address = "0.0.0.0";
  options.keys = folder_->path() / "keys.json";
  options.certificate = folder_->path() / "certificate.pem";
  options.private_key = folder_->path() / "key.pem";
}

std::vector<std::string> Share::addresses(int port) const {
  std::vector<std::string> all;
  for (const std::string& host : hosts_) all.push_back(fmt::format("https://{}:{}/#key={}", host, port, key_));
  return all;
}

}  // namespace protocom::http
