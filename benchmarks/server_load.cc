// Generates load for `protocom serve`, from a process of its own:
//   server_load bare RECOGNIZER BATCH SECONDS IMAGE...         images/s of the backbone alone, and one image's forward
//   server_load closed PORT CONNECTIONS SECONDS IMAGE...       images/s and latency of clients that never pause
//   server_load mixed PORT CONNECTIONS SECONDS IMAGE...        as closed; each also enrols and removes
//   server_load open PORT REQUESTS_A_SECOND SECONDS IMAGE...   latency at a rate, from when a request was due
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "../tests/http/client.h"
#include "base/threads.h"
#include "io/files.h"
#include "recognizer/recognizer.h"

namespace {

using Clock = std::chrono::steady_clock;
using protocom::testing::Client;

struct Plan {
  std::vector<std::string> images;  // file contents
  double seconds = 0;
};

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Plan read_plan(char** begin, char** end) {
  Plan plan;
  plan.seconds = std::stod(*begin);
  for (char** file = begin + 1; file != end; ++file) plan.images.push_back(protocom::read_file(*file));
  if (plan.images.empty()) throw std::runtime_error("give images");
  return plan;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<size_t>(share * static_cast<double>(values.size() - 1)));
}

double images_per_second(protocom::Recognizer& recognizer, const std::vector<protocom::Image>& batch, double seconds) {
  recognizer.features_of(batch);
  int64_t images = 0;
  const auto begin = Clock::now();
  for (; since(begin) < seconds; images += static_cast<int64_t>(batch.size())) recognizer.features_of(batch);
  return static_cast<double>(images) / since(begin);
}

void run_bare(const std::string& path, size_t size, const Plan& plan) {
  protocom::set_threads(0);
  protocom::Recognizer recognizer = protocom::Recognizer::open(path);
  std::vector<protocom::Image> batch;
  for (size_t i = 0; i < size; ++i)
    batch.push_back(
        protocom::decode_square_image(plan.images[i % plan.images.size()], recognizer.file().settings().preprocessing));
  fmt::print("bare: {:.1f} images/s in batches of {}\n", images_per_second(recognizer, batch, plan.seconds), size);
  batch.resize(1);
  fmt::print("bare: {:.2f} ms for one image\n", 1000 / images_per_second(recognizer, batch, plan.seconds));
}

bool ask(Client& client, const std::string& image) {
  return client.ask("POST", "/v1/classify", image, protocom::testing::kPng).status == 200;
}

void run_closed(int port, int connections, const Plan& plan) {
  std::atomic<int64_t> refused{0};
  std::vector<std::vector<double>> took(static_cast<size_t>(connections));
  std::vector<std::thread> clients;
  const auto begin = Clock::now();
  for (size_t c = 0; c < took.size(); ++c) {
    clients.emplace_back([&, c] {
      Client client(port);
      for (size_t i = c; since(begin) < plan.seconds; ++i) {
        const auto asked = Clock::now();
        if (ask(client, plan.images[i % plan.images.size()]))
          took[c].push_back(since(asked));
        else
          ++refused;
      }
    });
  }
  for (std::thread& one : clients) one.join();
  std::vector<double> all;
  for (const auto& own : took) all.insert(all.end(), own.begin(), own.end());
  fmt::print("closed: {:.1f} images/s over {} connections, {} answered, {} not; p50 {:.1f} ms, p99 {:.1f} ms\n",
             static_cast<double>(all.size()) / since(begin), connections, all.size(), refused,
             1000 * percentile(all, 0.5), 1000 * percentile(all, 0.99));
}

/// Makes the request of that number: seven out of ten classify.
int mixed_status(Client& client, const std::string& own, size_t number, const std::string& image) {
  const std::string target = "/v1/classes/" + own;
  switch (number % 10) {
    case 2:
      return client.ask("POST", target + "/examples", image, protocom::testing::kPng).status;
    case 5:
      return client.ask("GET", "/v1/classes").status;
    case 8:
      return client.ask("DELETE", target).status;
    default:
      return client.ask("POST", "/v1/classify", image, protocom::testing::kPng).status;
  }
}

void run_mixed(int port, int connections, const Plan& plan) {
  std::mutex lock;
  std::map<int, int64_t> statuses;
  std::vector<std::thread> clients;
  const auto begin = Clock::now();
  for (int c = 0; c < connections; ++c) {
    clients.emplace_back([&, c] {
      Client client(port);
      for (size_t i = 0; since(begin) < plan.seconds; ++i) {
        const std::string& image = plan.images[(i + static_cast<size_t>(c)) % plan.images.size()];
        const int status = mixed_status(client, fmt::format("load-{}", c), i, image);
        const std::lock_guard<std::mutex> guard(lock);
        ++statuses[status];
        if (status == 0) return;
      }
    });
  }
  for (std::thread& one : clients) one.join();
  int64_t requests = 0;
  for (const auto& [status, count] : statuses) requests += count;
  fmt::print("mixed: {:.1f} requests/s over {} connections\n", static_cast<double>(requests) / since(begin),
             connections);
  for (const auto& [status, count] : statuses) fmt::print("mixed: {} answers of status {}\n", count, status);
}

void run_open(int port, double rate, const Plan& plan) {
  constexpr int kConnections = 32;
  std::mt19937_64 random(7);
  std::exponential_distribution<double> gap(rate);
  std::vector<double> due;
  for (double at = gap(random); at < plan.seconds; at += gap(random)) due.push_back(at);
  std::vector<double> took(due.size());
  std::atomic<size_t> next{0}, refused{0};
  std::vector<std::thread> clients;
  const auto begin = Clock::now();
  for (int c = 0; c < kConnections; ++c) {
    clients.emplace_back([&] {
      Client client(port);
      for (size_t i = next++; i < due.size(); i = next++) {
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due[i])));
        if (!ask(client, plan.images[i % plan.images.size()])) ++refused;
        took[i] = since(begin) - due[i];
      }
    });
  }
  for (std::thread& one : clients) one.join();
  fmt::print("open: {:.1f} requests/s, {} requests, {} refused; p50 {:.1f} ms, p99 {:.1f} ms\n", rate, due.size(),
             refused, 1000 * percentile(took, 0.5), 1000 * percentile(took, 0.99));
}

int usage() {
  fmt::print(stderr, "server_load bare|closed|mixed|open RECOGNIZER|PORT NUMBER SECONDS IMAGE...\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return usage();
  const std::string mode = argv[1];
  if (mode != "bare" && mode != "closed" && mode != "mixed" && mode != "open") return usage();
  const Plan plan = read_plan(argv + 4, argv + argc);
  if (mode == "bare") run_bare(argv[2], std::stoul(argv[3]), plan);
  if (mode == "closed") run_closed(std::stoi(argv[2]), std::stoi(argv[3]), plan);
  if (mode == "mixed") run_mixed(std::stoi(argv[2]), std::stoi(argv[3]), plan);
  if (mode == "open") run_open(std::stoi(argv[2]), std::stod(argv[3]), plan);
  return 0;
}
