// A recognizer behind HTTP inside your own program: embed_server birds.pcm [seconds]
#include <protocom/server.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    protocom::ServerOptions options;
    options.port = 0;  // any free port
    protocom::Server server(argv[1], options);
    std::printf("the page is at http://127.0.0.1:%d/\n", server.port());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 3600));
    server.stop();  // answers requests accepted so far
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
