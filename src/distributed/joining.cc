#include "distributed/detail/joining.h"

#include <arpa/inet.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "base/log.h"
#include "distributed/detail/listening.h"

namespace protocom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr std::chrono::seconds kFirstReport{1};    // of waiting, before the first message
constexpr std::chrono::seconds kBetweenWords{20};  // between later messages
constexpr std::chrono::seconds kStaying{2};        // until the others have read which ones are missing
constexpr std::chrono::milliseconds kConnecting{2000};
constexpr const char* kMissing = "protocom/missing";

std::string joined_key(int rank) { return "protocom/joined/" + std::to_string(rank); }

/// Logs from time to time that it waits, and reports when patience ends.
class Waiting {
 public:
  explicit Waiting(std::chrono::seconds patience) : patience_(patience) {}

  [[nodiscard]] bool over() const { return Clock::now() - begun_ > patience_; }

  template <typename Sentence>
  void tell(Sentence sentence) {
    if (Clock::now() < next_) return;
    next_ = Clock::now() + kBetweenWords;
    logger().info("{} ({} s at most)", sentence(), patience_.count());
  }

 private:
  std::chrono::seconds patience_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_ + kFirstReport;
};

std::string more_time(const Launch& launch) {
  return fmt::format("this is process {}; start all of them within {} s, or give them more with PROTOCOM_PATIENCE={}",
                     launch.rank, launch.patience.count(), 10 * std::max<int64_t>(launch.patience.count(), 60));
}

/// Returns the host's addresses; none while its name is unknown (a machine that is not up yet).
std::vector<sockaddr_storage> resolve_host(const Launch& launch) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(launch.host.c_str(), std::to_string(launch.port).c_str(), &hints, &found) != 0) return {};
  std::vector<sockaddr_storage> addresses;
  for (const addrinfo* item = found; item != nullptr; item = item->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, item->ai_addr, std::min<size_t>(item->ai_addrlen, sizeof(address)));
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

socklen_t length_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

bool listens(const sockaddr_storage& address) {
  const int socket = ::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  int error = 0;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), length_of(address)) != 0) {
    error = errno;
    pollfd waiting{socket, POLLOUT, 0};
    socklen_t length = sizeof(error);
    if (error == EINPROGRESS && ::poll(&waiting, 1, static_cast<int>(kConnecting.count())) == 1)
      ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
  }
  ::close(socket);
  return error == 0;
}

/// Waits for the store; c10d's own waiting is silent, and prints a line for each try.
void wait_for_store(const Launch& launch) {
  Waiting waiting(launch.patience);
  for (;;) {
    const auto addresses = resolve_host(launch);
    if (std::any_of(addresses.begin(), addresses.end(), listens)) return;
    if (waiting.over()) {
      fail("process 0 of {} has not joined within {} s: nothing listens at {}:{}; {}", launch.size,
           launch.patience.count(), launch.host, launch.port, more_time(launch));
    }
    waiting.tell([&] {
      return fmt::format("process {} of {} waits for process 0 at {}:{}", launch.rank, launch.size, launch.host,
                         launch.port);
    });
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

enum class Part { kKeeper, kGuest };

c10::intrusive_ptr<c10d::Store> connect_store(const Launch& launch, Part part) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(launch.port);
  options.isServer = part == Part::kKeeper;
  options.waitWorkers = false;
  options.timeout = std::max(launch.patience, std::chrono::seconds(1));
  try {
    return c10::make_intrusive<c10d::TCPStore>(launch.host, options);
  } catch (const std::exception& error) {
    fail("process {} of {} could not reach the other processes at {}:{}: {}", launch.rank, launch.size, launch.host,
         launch.port, error.what());
  }
}

/// Whether an address is useless for others: on many machines their own name is a loopback address, which other
/// machines cannot reach.
bool is_useless(const sockaddr_storage& address, const Launch& launch) {
  if (launch.local_size >= launch.size) return false;
  if (address.ss_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  constexpr uint32_t kLoopback = 127;
  return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == kLoopback;
}

/// Restricts the store, since c10d listens at every address of the machine.
void narrow_store(const Launch& launch) {
  if (listen_only_at(launch.port, own_addresses(launch))) return;
  logger().warn("port {} of this machine, at which the processes join, is open on all of its addresses", launch.port);
}

std::vector<int> absent(c10d::Store& store, int size) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) {
    if (!store.check({joined_key(rank)})) ranks.push_back(rank);
  }
  return ranks;
}

/// Gives up. The first process to time out notifies those that joined later, which would wait for it.
void give_up(c10d::Store& store, const std::vector<int>& missing) {
  const std::string names = fmt::format("{}", fmt::join(missing, ", "));
  store.set(kMissing, std::vector<uint8_t>(names.begin(), names.end()));
}

[[noreturn]] void fail_missing(c10d::Store& store, const Launch& launch) {
  const std::vector<uint8_t> names = store.get(kMissing);
  // The store ends with this process; those that have joined should read it before.
  if (launch.rank == 0 && static_cast<int>(absent(store, launch.size).size()) < launch.size - 1)
    std::this_thread::sleep_for(kStaying);
  fail("process {} of {} has not joined within {} s at {}:{}: {}", std::string(names.begin(), names.end()), launch.size,
       launch.patience.count(), launch.host, launch.port, more_time(launch));
}

void join(c10d::Store& store, const Launch& launch) {
  store.set(joined_key(launch.rank), std::vector<uint8_t>{1});
  Waiting waiting(launch.patience);
  for (;;) {
    const std::vector<int> missing = absent(store, launch.size);
    if (missing.empty()) return;
    if (waiting.over() && !store.check({kMissing})) give_up(store, missing);
    if (store.check({kMissing})) fail_missing(store, launch);
    waiting.tell([&] {
      return fmt::format("waiting for {} of {} processes: {}", missing.size(), launch.size, fmt::join(missing, ", "));
    });
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Store> open_store(const Launch& launch) {
  const Part part = launch.rank == 0 && !launch.hosted_store ? Part::kKeeper : Part::kGuest;
  if (part == Part::kGuest) wait_for_store(launch);
  auto store = connect_store(launch, part);
  if (part == Part::kKeeper) narrow_store(launch);
  return store;
}

c10::intrusive_ptr<c10d::Store> open_second_store(const Launch& launch) { return connect_store(launch, Part::kGuest); }

void wait_for_all(c10d::Store& store, const Launch& launch) {
  try {
    join(store, launch);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    fail("process 0 of {} ended while process {} waited for the others: start all again", launch.size, launch.rank);
  }
}

std::vector<std::string> own_addresses(const Launch& launch) {
  std::vector<std::string> own;
  for (const sockaddr_storage& there : resolve_host(launch)) {
    const int socket = ::socket(there.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_storage here{};
    socklen_t length = sizeof(here);
    // Connecting a datagram socket sends nothing, but gives its local address.
    const bool known = socket >= 0 &&
                       ::connect(socket, reinterpret_cast<const sockaddr*>(&there), length_of(there)) == 0 &&
                       ::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &length) == 0;
    if (socket >= 0) ::close(socket);
    if (!known || is_useless(here, launch)) continue;
    char text[NI_MAXHOST];
    if (::getnameinfo(reinterpret_cast<sockaddr*>(&here), length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0)
      own.emplace_back(text);
  }
  return own;
}

}  // namespace protocom
