#include <unistd.h>

#include <optional>
#include <thread>

#include "cli.h"
#include "dataset_options.h"
#include "http/qr_code.h"
#include "http/server.h"
#include "http/share.h"
#include "interrupt.h"
#include "recognizer/class_groups.h"
#include "recognizer/create_recognizer.h"

namespace protocom::cli {
namespace {

struct Options {
  std::string recognizer, groups;
  bool is_new = false;  ///< create the recognizer first, from `parts`
  bool is_shared = false;
  RecognizerParts parts;
  ServerOptions server;
};

void create_empty(const CLI::App& command, const Options& options) {
  check_writable(options.recognizer);
  create_recognizer(options.recognizer, options.parts, provenance_of(command, /*seed=*/0));
}

/// Prints how others join, and what they may do.
void print_invitation(const http::Invitation& invitation) {
  const std::vector<std::string>& addresses = invitation.addresses;
  fmt::print("Here and on other devices of this network, such as a phone, open\n");
  for (const std::string& address : addresses) fmt::print("  {}\n", address);
  if (!addresses.empty() && ::isatty(STDOUT_FILENO) != 0)
    fmt::print("or scan this code of the first:\n{}", http::terminal_qr_code(addresses.front()));
  fmt::print(
      "Its browser warns, since this session's certificate is self-signed; its SHA-256 is\n  {}\n"
      "Anyone with this address can use and change the recognizer until you stop the server (Ctrl-C).\n",
      invitation.fingerprint);
}

void run_serve(const CLI::App& command, Options& options) {
  constexpr std::chrono::milliseconds kPause{20};
  const StopSignal::Listener listener(&stop_signal());
  options.server.text_encoder = options.parts.text_encoder;
  if (!options.groups.empty()) options.server.recognizing.groups = read_class_groups(options.groups);
  if (options.is_new) create_empty(command, options);
  std::optional<http::Share> share;
  if (options.is_shared) share.emplace().apply(options.server);
  if (share && share->addresses(0).empty())
    fail("this machine has no network address to share: connect it to a network");
  http::Server server(options.recognizer, options.server);
  const bool is_ipv6 = options.server.address.find(':') != std::string::npos;
  if (!share)
    fmt::print("{} is served at {}://{}:{}/\n", options.recognizer,
               options.server.certificate.empty() ? "http" : "https",
               is_ipv6 ? "[" + options.server.address + "]" : options.server.address, server.port());
  if (share) {
    fmt::print("{} is served to this network at port {}\n", options.recognizer, server.port());
    server.invite(share->invitation(server.port()));
    print_invitation(share->invitation(server.port()));
  }
  std::fflush(stdout);
  while (!stop_signal().requested()) std::this_thread::sleep_for(kPause);
  server.stop();
}

/// Adds options for a recognizer without classes, to be filled in the page.
void add_new(CLI::App& command, Options& options) {
  CLI::Option* make = command.add_flag("--new", options.is_new, "Create the recognizer first, without classes");
  add_input_option(command, "--backbone", options.parts.backbone, kBackboneHelp)->needs(make);
  command.add_option("--output", options.parts.output, kOutputHelp)->needs(make);
  command.add_option("--preprocess", options.parts.preprocessing, kPreprocessHelp)->needs(make);
}

void add_limits(CLI::App& command, ServerLimits& limits) {
  const auto positive = CLI::Range(int64_t{1}, int64_t{1} << 40);
  command.add_option("--body-bytes", limits.body_bytes, "Largest body of a request, bytes")->check(positive);
  command
      .add_option("--pixels", limits.pixels,
                  "Largest decoded image, pixels; four times that for a JPEG scaled down while decoding")
      ->check(positive);
  command.add_option("--request-pixels", limits.request_pixels, "Maximum pixels of all images of a request together")
      ->check(positive);
  command.add_option("--connections", limits.connections, "Maximum connections at once")->check(positive);
  command.add_option("--requests", limits.requests, "Maximum accepted requests without an answer; more get 503")
      ->check(positive);
  command.add_option("--waiting-bytes", limits.waiting_bytes, "Maximum bytes of the bodies of all requests together")
      ->check(positive);
  command.add_option("--waiting-images", limits.waiting_images, "Maximum images waiting for the encoder; more get 503")
      ->check(positive);
}

void add_serve_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "serve", "Serve over HTTP, with a page for the browser",
                                  "protocom serve birds.pcm\n"
                                  "  protocom serve --new mine.pcm\n"
                                  "  protocom serve --new mine.pcm --backbone clip-folder --text-encoder clip-folder\n"
                                  "  protocom serve birds.pcm --address 0.0.0.0 --keys keys.json --certificate c.pem "
                                  "--private-key k.pem");
  ServerOptions& server = options->server;
  add_input_option(*command, "recognizer", options->recognizer,
                   "Recognizer, see protocom recognizer create; or a folder of several (*.pcm), chosen on the page, "
                   "each below /NAME/")
      ->required();
  add_new(*command, *options);
  CLI::Option* address = command->add_option("--address", server.address,
                                             "Address to listen at; any other than this machine's own needs --keys");
  command->add_option("--port", server.port, "0: a free one, which is printed")->check(CLI::Range(0, 65535));
  CLI::Option* keys = add_input_option(*command, "--keys", server.keys,
                                       "File of API keys (protocom keys); without it no key is needed");
  keys->check([](const std::string& name) { return name.empty() ? "expected a file of API keys, found no name" : ""; });
  add_list_option(*command, "--allow-origin", server.origins,
                  "Other sites whose pages may call the server (https://shop.example; *: all); needs --keys");
  CLI::Option* certificate =
      add_input_option(*command, "--certificate", server.certificate, "Certificate with its chain (PEM); turns TLS on");
  add_input_option(*command, "--private-key", server.private_key, "Private key of the certificate (PEM)")
      ->needs(certificate);
  command
      ->add_flag(
          "--share", options->is_shared,
          "Also serve phones and others in this network, over TLS with a certificate and key for this session only")
      ->excludes(address)
      ->excludes(keys)
      ->excludes(certificate);
  add_input_option(*command, "--text-encoder", options->parts.text_encoder,
                   "Folder of the text encoder that the recognizer was made with: classes can be described in words; "
                   "with --new the backbone's own");
  command->add_option("--method", server.recognizing.method, "As for protocom classify");
  command->add_option("--top", server.recognizing.top, "Classes in an answer")->check(CLI::Range(1, 10000));
  command->add_option("--nearest", server.recognizing.nearest, "Most similar enrolled images in an answer")
      ->check(CLI::Range(0, 1000));
  command->add_option("--attributes", server.recognizing.attributes, "As for protocom classify")
      ->check(CLI::Range(0, 1000));
  add_input_option(*command, "--groups", options->groups,
                   "CSV with the columns class and group (or taxonomy), for requests with ?roll_up=0.9");
  command->add_option("--batch", server.recognizing.batch, "Images per forward pass, of several requests")
      ->check(CLI::Range(1, 4096));
  command->add_option("--workers", server.workers, "Threads that decode; 0: one per core")->check(CLI::Range(0, 1024));
  command->add_option("--lanes", server.lanes, "Threads that run the encoder; 0: one per core, at most 4; one on a GPU")
      ->check(CLI::Range(0, 64));
  add_device(*command, server.recognizing.device);
  add_limits(*command, server.limits);
  command->callback([command, options] { run_serve(*command, *options); });
}

const Command kRegister{Group::kOwnPhotos, 110, &add_serve_command};

}  // namespace
}  // namespace protocom::cli
