#include "protocom/core/process_group.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "core/heartbeat.h"
#include "protocom/core/check.h"
#include "protocom/core/error.h"
#include "protocom/core/log.h"

namespace protocom {
namespace {

// LibTorch 2 divided the class that Gloo and NCCL came from.
#if TORCH_VERSION_MAJOR >= 2
using CollectiveEngine = c10d::Backend;
#else
using CollectiveEngine = c10d::ProcessGroup;
#endif

constexpr std::chrono::minutes kPatience{5};        // until all have joined
constexpr std::chrono::milliseconds kGlance{2000};  // between two looks at the others while an operation waits
constexpr std::chrono::seconds kFarewell{5};        // process 0 keeps the store open for the others' questions

c10::intrusive_ptr<c10d::Store> open_store(const Launch& launch) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(launch.port);
  options.isServer = launch.rank == 0 && !launch.hosted_store;
  options.numWorkers = static_cast<std::size_t>(launch.size);
  options.waitWorkers = !launch.hosted_store;
  options.timeout = kPatience;
  try {
    return c10::make_intrusive<c10d::TCPStore>(launch.host, options);
  } catch (const std::exception& error) {
    fail("process {} of {} could not meet the others at {}:{}: {}", launch.rank, launch.size, launch.host, launch.port,
         error.what());
  }
}

c10::intrusive_ptr<CollectiveEngine> open_gloo(const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch) {
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store), launch.rank,
                                                     launch.size, options);
}

c10::intrusive_ptr<CollectiveEngine> open_nccl([[maybe_unused]] const c10::intrusive_ptr<c10d::Store>& store,
                                               [[maybe_unused]] const Launch& launch) {
#ifdef USE_C10D_NCCL
  if (at::hasCUDA()) {
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::make_intrusive<c10d::PrefixStore>("nccl", store),
                                                       launch.rank, launch.size);
  }
#endif
  return {};
}

}  // namespace

struct ProcessGroup::Connection {
  explicit Connection(const Launch& launch)
      : store(open_store(launch)),
        heartbeat(store, launch.rank, launch.size),
        cpu(open_gloo(store, launch)),
        cuda(open_nccl(store, launch)) {}

  [[nodiscard]] CollectiveEngine& engine(c10::Device device) const {
    if (!device.is_cuda()) return *cpu;
    if (!cuda) fail("this LibTorch has no NCCL: several processes can only share CPUs");
    return *cuda;
  }

  /// Throws Error when others have failed, or have been silent at two glances: who was stopped itself has heard nobody
  /// meanwhile, but hears them again by the second.
  void look_at_others(const Launch& launch) {
    std::vector<std::string> reasons;
    for (const auto& [rank, reason] : heartbeat.failures())
      reasons.push_back(fmt::format("process {} of {} has failed: {}", rank, launch.size, reason));
    const std::vector<int> silent_now = heartbeat.find_silent();
    const bool given_up = !silent_now.empty() && silent_now == silent;
    silent = silent_now;
    if (!reasons.empty() || given_up) broken = true;
    if (!reasons.empty()) fail("{}", fmt::join(reasons, "; "));
    if (!given_up) return;
    fail(
        "process {} of {} has not answered for {} s: it is stopped, or its machine hangs; start all again, a training "
        "with "
        "--resume",
        fmt::join(silent, ", "), launch.size, Heartbeat::kSilence.count());
  }

  c10::intrusive_ptr<c10d::Store> store;
  Heartbeat heartbeat;
  std::vector<int> silent;  // at the last glance
  bool broken = false;
  c10::intrusive_ptr<CollectiveEngine> cpu;
  c10::intrusive_ptr<CollectiveEngine> cuda;  // null without GPUs
};

ProcessGroup::ProcessGroup(const Launch& launch) : launch_(launch) {
  if (is_single()) return;
  connection_ = std::make_unique<Connection>(launch);
  barrier();
}

ProcessGroup::~ProcessGroup() {
  // Gloo's end would wait for the operation that was given up.
  if (broken()) static_cast<void>(connection_.release());
}

bool ProcessGroup::broken() const { return connection_ && connection_->broken; }

void ProcessGroup::announce_failure(const std::string& reason) const {
  if (is_single()) return;
  if (!broken()) connection_->heartbeat.announce_failure(reason);
  // The store, where the others learn what happened, ends with process 0.
  if (is_main()) std::this_thread::sleep_for(kFarewell);
}

template <typename Work>
void ProcessGroup::wait_for(Work& work) const {
  for (;;) {
    try {
      work.wait(kGlance);
      return;
    } catch (const std::exception&) {
      if (work.isCompleted()) break;
    }
    connection_->look_at_others(launch_);
  }
  work.wait();  // it is over: this throws what went wrong, if anything did
}

const ProcessGroup& ProcessGroup::single() {
  static const ProcessGroup kSingle{Launch()};
  return kSingle;
}

std::pair<int64_t, int64_t> ProcessGroup::share(int64_t count) const {
  const int64_t parts = launch_.size;
  return {count * launch_.rank / parts, count * (launch_.rank + 1) / parts};
}

void ProcessGroup::sum(at::Tensor tensor) const {
  if (is_single()) return;
  guard([&] { start_sum(tensor)(); });
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what it refers to is changed in place
std::function<void()> ProcessGroup::start_sum(at::Tensor tensor) const {
  if (is_single()) return [] {};
  std::vector<at::Tensor> tensors = {tensor};
  auto work = connection_->engine(tensor.device()).allreduce(tensors);
  if (tensor.is_cuda()) return [work] { work->wait(); };  // on a GPU's stream: nothing waits here
  return [this, work] { wait_for(*work); };
}

void ProcessGroup::broadcast(at::Tensor tensor) const {
  if (is_single()) return;
  // Gloo sends memory as it lies: a channels-last tensor travels through a plain copy.
  std::vector<at::Tensor> tensors = {tensor.contiguous()};
  guard([&] {
    const auto work = connection_->engine(tensor.device()).broadcast(tensors);
    if (tensor.is_cuda()) {
      work->wait();
    } else {
      wait_for(*work);
    }
  });
  if (!tensors.front().is_same(tensor)) tensor.copy_(tensors.front());
}

std::string ProcessGroup::broadcast(const std::string& text) const {
  if (is_single()) return text;
  const at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), at::kLong);
  broadcast(length);
  at::Tensor bytes = at::zeros({length.item<int64_t>()}, at::kByte);
  if (is_main()) std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  if (bytes.numel() > 0) broadcast(bytes);
  return {bytes.data_ptr<uint8_t>(), bytes.data_ptr<uint8_t>() + bytes.numel()};
}

at::Tensor ProcessGroup::gather_rows(const at::Tensor& rows) const {
  if (is_single()) return rows;
  at::Tensor counts = at::zeros({launch_.size}, at::kLong);
  counts[launch_.rank] = rows.size(0);
  sum(counts);
  // Every process fills its rows of the whole, and the sum joins them: Gloo's own gather wants equal shares.
  const at::Tensor ends = counts.cumsum(0);
  auto shape = rows.sizes().vec();
  shape[0] = ends[launch_.size - 1].item<int64_t>();
  at::Tensor all = at::zeros(shape, rows.options());
  const int64_t end = ends[launch_.rank].item<int64_t>();
  all.slice(0, end - rows.size(0), end).copy_(rows);
  sum(all);
  return all;
}

void ProcessGroup::barrier() const {
  if (is_single()) return;
  sum(at::zeros({1}));
}

void ProcessGroup::explain(const std::exception& error) const {
  if (!connection_ || dynamic_cast<const Error*>(&error) != nullptr) return;
  const std::vector<int> gone = connection_->heartbeat.find_gone();
  const auto failures = connection_->heartbeat.failures();
  if (!failures.empty()) {
    fail("process {} of {} has failed: {}", failures.begin()->first, launch_.size, failures.begin()->second);
  }
  if (gone.empty()) return;
  // The others ask the store, too, and it ends with process 0.
  if (is_main()) std::this_thread::sleep_for(kFarewell);
  fail("process {} of {} is gone: this is process {}; start all again, in any number, a training with --resume",
       fmt::join(gone, ", "), launch_.size, launch_.rank);
}

}  // namespace protocom
