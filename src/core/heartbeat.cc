#include "core/heartbeat.h"

#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace protocom {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval{500};
constexpr int kSilentIntervals = 6;  // 3 s
constexpr const char* kVerdict = "gone";

std::string key_of(int rank) { return "alive/" + std::to_string(rank); }

std::vector<int> parse(const std::vector<uint8_t>& text) {
  std::vector<int> ranks;
  std::string number;
  for (const uint8_t byte : text) {
    if (byte != ' ') {
      number.push_back(static_cast<char>(byte));
    } else if (!number.empty()) {
      ranks.push_back(std::stoi(number));
      number.clear();
    }
  }
  return ranks;
}

}  // namespace

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, int size)
    : store_(c10::make_intrusive<c10d::PrefixStore>("protocom", std::move(store))), rank_(rank), size_(size) {
  store_->add(key_of(rank_), 1);
  thread_ = std::thread([this] { beat(); });
}

Heartbeat::~Heartbeat() {
  stopping_ = true;
  thread_.join();
}

void Heartbeat::beat() {
  while (!stopping_) {
    std::this_thread::sleep_for(kInterval);
    try {
      store_->add(key_of(rank_), 1);
    } catch (const std::exception&) {
      return;  // the store is gone; the next collective operation will say so
    }
  }
}

std::vector<int64_t> Heartbeat::counts() const {
  std::vector<int64_t> all;
  for (int rank = 0; rank < size_; ++rank) all.push_back(store_->add(key_of(rank), 0));
  return all;
}

std::vector<int> Heartbeat::find_gone() const {
  try {
    if (store_->check({kVerdict})) return parse(store_->get(kVerdict));
    const std::vector<int64_t> before = counts();
    std::this_thread::sleep_for(kSilentIntervals * kInterval);
    if (store_->check({kVerdict})) return parse(store_->get(kVerdict));
    const std::vector<int64_t> after = counts();
    std::vector<int> gone;
    std::string text;
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_ || after[static_cast<size_t>(rank)] != before[static_cast<size_t>(rank)]) continue;
      gone.push_back(rank);
      text += std::to_string(rank) + " ";
    }
    // Whoever comes later finds others gone too: those that ended because of this.
    if (!gone.empty()) store_->set(kVerdict, std::vector<uint8_t>(text.begin(), text.end()));
    return gone;
  } catch (const std::exception&) {
    return {0};
  }
}

}  // namespace protocom
