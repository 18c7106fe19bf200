// Loaded into the program (LD_PRELOAD), starts it once and runs it many times: everything up to main(), which takes
// half
// a second with LibTorch, is shared by all runs, each of which is a fork with its own arguments. Used by
// mutation_trial.
//
// Over the socket START_ONCE_FD. Request: a 32-bit length, then as many bytes of strings that end in zero: the folder
// to run in, the file for standard error, the arguments. Answer: the process, 32 bits; once it has ended its wait
// status, 32 bits, its processor time in microseconds and its largest resident size in KiB, 64 bits each.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Main = int(int, char**, char**);
Main* the_main = nullptr;

bool receive(int socket, void* to, size_t size) {
  for (size_t have = 0; have < size;) {
    const ssize_t got = ::read(socket, static_cast<char*>(to) + have, size - have);
    if (got <= 0) return false;
    have += static_cast<size_t>(got);
  }
  return true;
}

template <typename Value>
bool send(int socket, Value value) {
  return ::write(socket, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

std::vector<char*> strings_in(std::string& text) {
  std::vector<char*> strings;
  for (size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) strings.push_back(text.data() + at);
  return strings;
}

int run(std::string request, char* program, char** environment) {
  std::vector<char*> arguments = strings_in(request);
  const int error = ::open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::chdir(arguments[0]) != 0 || error < 0 || ::dup2(error, STDERR_FILENO) < 0) return 125;
  ::close(error);
  arguments.erase(arguments.begin());
  arguments[0] = program;
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return the_main(count, arguments.data(), environment);
}

bool answer(int socket, pid_t process) {
  int status = 0;
  rusage usage{};
  if (!send(socket, static_cast<int32_t>(process)) || ::wait4(process, &status, 0, &usage) != process) return false;
  const auto microseconds = [](const timeval& time) { return int64_t{time.tv_sec} * 1000000 + time.tv_usec; };
  return send(socket, static_cast<int32_t>(status)) &&
         send(socket, microseconds(usage.ru_utime) + microseconds(usage.ru_stime)) &&
         send(socket, int64_t{usage.ru_maxrss});
}

int serve(int, char** arguments, char** environment) {
  const char* number = std::getenv("START_ONCE_FD");
  if (number == nullptr) return 125;
  const int socket = std::atoi(number);
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("START_ONCE_FD");
  uint32_t size = 0;
  while (receive(socket, &size, sizeof(size))) {
    std::string request(size, '\0');
    if (!receive(socket, request.data(), request.size())) break;
    const pid_t process = ::fork();
    if (process == 0) {
      ::close(socket);
      return run(std::move(request), arguments[0], environment);
    }
    if (process < 0 || !answer(socket, process)) return 125;
  }
  return 0;
}

}  // namespace

extern "C" int __libc_start_main(Main* program_main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld_fini)(), void* stack_end) {
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  the_main = program_main;
  auto* start = reinterpret_cast<Start*>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
