#include "distributed/detail/listening.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace protocom {
namespace {

constexpr uint32_t kPacketHeader = static_cast<uint32_t>(SKF_NET_OFF);  // of the network packet
constexpr uint32_t kTarget4 = 16, kTarget6 = 24;                        // offset of the target address in it
constexpr uint32_t kVersion4 = 4, kVersion6 = 6;
constexpr uint32_t kAll = 0xffffffff, kNothing = 0;

/// Whether the descriptor is a socket that listens at the port.
bool listens_at(int descriptor, int port) {
  int listening = 0;
  socklen_t length = sizeof(listening);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0 || listening == 0) return false;
  sockaddr_storage address{};
  length = sizeof(address);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port) == port;
  return address.ss_family == AF_INET6 && ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port) == port;
}

/// Returns the address in words of 32 bits: one for IPv4, four for IPv6.
std::vector<uint32_t> words_of(const std::string& address) {
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return {ntohl(four.s_addr)};
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return {};
  std::vector<uint32_t> words(sizeof(six) / sizeof(uint32_t));
  std::memcpy(words.data(), &six, sizeof(six));
  for (uint32_t& word : words) word = ntohl(word);
  return words;
}

/// Accepts packets of the address's version that are sent to it, and passes all others to the following rules.
void append_accept_rule(const std::vector<uint32_t>& words, std::vector<sock_filter>& filter) {
  const bool six = words.size() > 1;
  // A jump counts the instructions to skip: two for each remaining word, and the accepting return.
  const auto behind = [&](size_t words_left) { return static_cast<uint8_t>(2 * words_left + 1); };
  filter.push_back(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kPacketHeader));
  filter.push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, six ? kVersion6 : kVersion4, 0, behind(words.size())));
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t place = (six ? kTarget6 : kTarget4) + static_cast<uint32_t>(i * sizeof(uint32_t));
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kPacketHeader + place));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, words[i], 0, behind(words.size() - 1 - i)));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
}

std::vector<sock_filter> filter_of(const std::vector<std::string>& addresses) {
  std::vector<sock_filter> filter;
  for (const std::string& address : addresses) {
    const std::vector<uint32_t> words = words_of(address);
    if (words.empty()) return {};
    append_accept_rule(words, filter);
  }
  if (!filter.empty()) filter.push_back(BPF_STMT(BPF_RET | BPF_K, kNothing));
  return filter;
}

}  // namespace

bool listen_only_at(int port, const std::vector<std::string>& addresses) {
  std::vector<sock_filter> filter = filter_of(addresses);
  if (filter.empty()) return false;
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kMostLooked = 4096;  // a program has just begun
  for (int descriptor = 0; descriptor < static_cast<int>(std::min(limit.rlim_cur, kMostLooked)); ++descriptor) {
    if (listens_at(descriptor, port))
      return ::setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
  }
  return false;
}

}  // namespace protocom
