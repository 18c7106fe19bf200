// A recognizer behind HTTP inside a program of one's own: embed_server birds.pcm [seconds]
#include <protocom/server.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    protocom::ServerOptions options;
    options.port = 0;  // one that is free
    protocom::Server server(argv[1], options);
    std::printf("the page is at http://127.0.0.1:%d/\n", server.port());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 3600));
    server.stop();  // answers what was accepted
  } catch (const protocom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
