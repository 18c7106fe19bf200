#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "cli/pipeline.h"
#include "http/client.h"
#include "io/output_lock.h"
#include "support/clip_folder.h"
#include "support/environment.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kServerKills = 50;

/// Returns a picture in a format that needs no library to write; each number gives another one.
std::string bitmap(uint32_t number) {
  constexpr uint32_t kSide = 32, kHeader = 54;
  const auto bytes_of = [](uint32_t value, size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::mt19937 random(number);
  std::string pixels(kSide * kSide * 3, '\0');
  for (char& one : pixels) one = static_cast<char>(random());
  return "BM" + bytes_of(kHeader + kSide * kSide * 3, 4) + bytes_of(0, 4) + bytes_of(kHeader, 4) + bytes_of(40, 4) +
         bytes_of(kSide, 4) + bytes_of(kSide, 4) + bytes_of(1, 2) + bytes_of(24, 2) + std::string(24, '\0') + pixels;
}

/// A server, started as users start it.
class Serving {
 public:
  Serving(const fs::path& folder, const std::vector<std::string>& more,
          const std::vector<std::string>& command = {"serve"})
      : program_(folder, arguments(more, command)) {
    // Two minutes at most: a sanitizer build starts slowly.
    for (int i = 0; i < 12000 && port_ == 0 && program_.runs(); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
      const std::string stated = program_.out_so_far();
      const size_t at = stated.find("127.0.0.1:");
      if (at != std::string::npos && stated.find('\n') != std::string::npos) port_ = std::stoi(stated.substr(at + 10));
    }
    if (port_ == 0) throw std::runtime_error("the server did not start: " + program_.wait().err);
  }

  [[nodiscard]] int port() const { return port_; }
  Program& program() { return program_; }

 private:
  static std::vector<std::string> arguments(const std::vector<std::string>& more, std::vector<std::string> all) {
    for (const char* one : {"c.pcm", "--port", "0", "--threads", "1"}) all.emplace_back(one);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Program program_;
  int port_ = 0;
};

/// The enrolments that were acknowledged to clients.
class Acknowledged {
 public:
  /// Enrols one picture after another over one connection until the server is gone.
  void enrol(int port) {
    try {
      Client client(port);
      for (;;) {
        const uint32_t number = next_++;
        const std::string name = std::to_string(number) + ".bmp";
        const Reply reply =
            client.ask("POST", "/v1/classes/noise/examples", form_of({{"image", bitmap(number), name}}), kForm);
        if (reply.status != 200 && reply.status != 201) return;
        const std::lock_guard lock(mutex_);
        names_.insert(name);
      }
    } catch (const std::exception&) {  // the connection was refused: the server is gone already
    }
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return names_.size();
  }
  /// Waits until there are that many, at most two minutes.
  bool wait_for(size_t fewest) {
    for (int i = 0; i < 120'000 && count() < fewest; ++i) std::this_thread::sleep_for(milliseconds(1));
    return count() >= fewest;
  }
  [[nodiscard]] const std::set<std::string>& names() const { return names_; }

 private:
  std::atomic<uint32_t> next_{0};
  std::mutex mutex_;
  std::set<std::string> names_;
};

std::set<std::string> enrolled(int port) {
  const Reply reply = Client(port).ask("GET", "/v1/classes/noise");
  std::set<std::string> names;
  for (const json& one : reply.json().value("examples", json::array())) names.insert(one.at("source"));
  return names;
}

bool holds_all(const std::set<std::string>& there, const std::set<std::string>& expected) {
  return std::includes(there.begin(), there.end(), expected.begin(), expected.end());
}

class ServeCommand : public Pipeline {
 protected:
  void SetUp() override {
    fs::remove(folder_->path() / "c.pcm");
    const Outcome made =
        protocom(folder_->path(), {"recognizer", "create", "c.pcm", "--backbone", out("backbone.npz").string(),
                                   "--model", out("model.npz").string(), "--knowledge", out("knowledge.npz").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
};

TEST_F(ServeCommand, FinishesWhatItAcceptedWhenItIsToldToStop) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Serving server(folder_->path(), {});
    Acknowledged told;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) clients.emplace_back([&] { told.enrol(server.port()); });
    EXPECT_TRUE(told.wait_for(20));
    server.program().signal(signal);
    const Outcome outcome = server.program().wait();
    for (std::thread& one : clients) one.join();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    Serving again(folder_->path(), {});
    EXPECT_TRUE(holds_all(enrolled(again.port()), told.names()));
    ASSERT_EQ(protocom(folder_->path(), {"classes", "remove", "c.pcm", "noise"}).exit_code, 0);
  }
}

TEST_F(ServeCommand, HoldsWhatWasAcknowledgedAfterAKillAtAnyMoment) {
  Acknowledged told;
  std::mt19937 random(2026);
  for (int kill = 0; kill < kServerKills; ++kill) {
    Serving server(folder_->path(), {});
    ASSERT_TRUE(holds_all(enrolled(server.port()), told.names())) << "after kill " << kill;
    const size_t before = told.count();
    std::thread one([&] { told.enrol(server.port()); }), two([&] { told.enrol(server.port()); });
    EXPECT_TRUE(told.wait_for(before + 1));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));  // any moment will do
    server.program().kill();
    one.join();
    two.join();
    server.program().wait();
  }
  // The last kill may have interrupted a change, which read-only commands do not roll back.
  ASSERT_EQ(protocom(folder_->path(), {"recognizer", "recover", "c.pcm"}).exit_code, 0);
  const Outcome checked = protocom(folder_->path(), {"recognizer", "check", "c.pcm"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  Serving last(folder_->path(), {});
  EXPECT_TRUE(holds_all(enrolled(last.port()), told.names()));
  EXPECT_GE(told.names().size(), static_cast<size_t>(kServerKills));
}

TEST_F(ServeCommand, AnswersAsClassifyDoes) {
  const fs::path images = folder_->path() / "out/images";
  const std::string image = (images / first_image()).string();
  const std::string first = fs::path(first_image()).parent_path();
  const Outcome enrolling = protocom(folder_->path(), {"enrol", "c.pcm", "--folder", images.string()});
  ASSERT_EQ(enrolling.exit_code, 0) << enrolling.err;
  const json expected =
      json::parse(protocom(folder_->path(), {"classify", "c.pcm", image, "--format", "json", "--threads", "1"}).out);
  Serving server(folder_->path(), {});
  const Reply reply = Client(server.port()).ask("POST", "/v1/classify", read_text(image), kPng);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const json answer = reply.json()["answers"][0];
  ASSERT_EQ(answer["ranking"].size(), expected["ranking"].size());
  for (size_t i = 0; i < answer["ranking"].size(); ++i) {
    EXPECT_EQ(answer["ranking"][i]["class"], expected["ranking"][i]["class"]);
    EXPECT_NEAR(answer["ranking"][i]["probability"], expected["ranking"][i]["probability"], 1e-6);
  }
  EXPECT_EQ(answer["nearest"][0]["example"], expected["nearest"][0]["example"]);
}

TEST_F(ServeCommand, IsWhatTheProgramWithoutTrainingDoesUnasked) {
  const ByExecutable serving("PROTOCOM_SERVE_PROGRAM");
  const std::string image = (folder_->path() / "out/images" / first_image()).string();
  EXPECT_EQ(protocom(folder_->path(), {"enrol", "c.pcm", image, "--class", "one"}).exit_code, 0);
  EXPECT_THAT(protocom(folder_->path(), {"--help"}).out, Not(HasSubstr("pretrain")));
  EXPECT_THAT(protocom(folder_->path(), {"none.pcm"}).err, HasSubstr("none.pcm"));
  EXPECT_THAT(protocom(folder_->path(), {"clasify", "c.pcm"}).err,
              HasSubstr("unknown command 'clasify'; did you mean"));
  Serving server(folder_->path(), {}, {});
  EXPECT_EQ(Client(server.port()).ask("POST", "/v1/classify", read_text(image), kPng).status, 200);
  server.program().signal(SIGTERM);
  EXPECT_EQ(server.program().wait().exit_code, 0);
}

TEST_F(ServeCommand, ANewRecognizerIsMadeWhereThereIsNone) {
  const std::string backbone = out("backbone.npz").string();
  const Outcome there = protocom(folder_->path(), {"serve", "--new", "c.pcm", "--backbone", backbone, "--port", "0"});
  EXPECT_NE(there.exit_code, 0) << "what is there is never written over";
  {
    const Environment named("PROTOCOM_ENCODER", "nobodys-encoder");
    const Outcome nothing = protocom(folder_->path(), {"serve", "--new", "fresh.pcm", "--port", "0"});
    EXPECT_EQ(nothing.exit_code, 1);
    EXPECT_THAT(nothing.err, HasSubstr("no --backbone is given"));
  }
  fs::remove(folder_->path() / "c.pcm");
  Serving server(folder_->path(), {"--new", "--backbone", backbone});
  EXPECT_EQ(Client(server.port()).ask("GET", "/v1/classes").json()["classes"], json::array());
  server.program().signal(SIGTERM);
  EXPECT_EQ(server.program().wait().exit_code, 0);
  EXPECT_EQ(protocom(folder_->path(), {"recognizer", "check", "c.pcm"}).exit_code, 0);
}

TEST_F(ServeCommand, ANewRecognizerWithATextEncoderTakesWords) {
  write_clip(folder_->path() / "clip");
  const std::string clip = (folder_->path() / "clip").string();
  fs::remove(folder_->path() / "c.pcm");
  Serving server(folder_->path(), {"--new", "--backbone", clip, "--text-encoder", clip});
  EXPECT_EQ(Client(server.port()).ask("GET", "/v1/recognizer").json()["takes_words"], true);
  const std::string words = json{{"descriptions", {"a small brown bird"}}}.dump();
  EXPECT_EQ(Client(server.port()).ask("POST", "/v1/classes/robin/examples", words, kJson).status, 201);
  server.program().signal(SIGTERM);
  EXPECT_EQ(server.program().wait().exit_code, 0);
  const Outcome nowhere = protocom(folder_->path(), {"serve", "c.pcm", "--port", "0", "--text-encoder", "no-folder"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("no-folder"));
}

TEST_F(ServeCommand, SharesByAKeyAndACertificateOfTheSession) {
  Program shared(folder_->path(), {"serve", "c.pcm", "--port", "0", "--threads", "1", "--share"});
  for (int i = 0; i < 12000 && shared.runs() && shared.out_so_far().find("Ctrl-C") == std::string::npos; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  const std::string said = shared.out_so_far();
  if (!shared.runs()) {
    EXPECT_THAT(shared.wait().err, HasSubstr("this machine has no network address"));
  } else {
    EXPECT_THAT(said, HasSubstr("c.pcm is served to this network at port "));
    EXPECT_THAT(said, HasSubstr("/#key=pcm_"));
    EXPECT_THAT(said, HasSubstr("its SHA-256 is"));
    shared.signal(SIGTERM);
    EXPECT_EQ(shared.wait().exit_code, 0);
  }
  for (const char* other : {"--keys", "--certificate", "--address"}) {
    const Outcome refused = protocom(folder_->path(), {"serve", "c.pcm", "--share", other, "127.0.0.1"});
    EXPECT_EQ(refused.exit_code, 2) << other;
    EXPECT_THAT(refused.err, HasSubstr("--share")) << other;
  }
}

TEST_F(ServeCommand, KeysAreMadeListedAndRemoved) {
  const auto keys = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "keys");
    return protocom(folder_->path(), arguments);
  };
  fs::remove(folder_->path() / "keys.json");
  const Outcome made = keys({"add", "keys.json", "phone", "--role", "write"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out.rfind("pcm_", 0), 0U);
  EXPECT_THAT(keys({"list", "keys.json"}).out, HasSubstr("phone"));
  {
    const OutputLock other(folder_->path() / "keys.json");
    for (const char* change : {"add", "remove"})
      EXPECT_THAT(keys({change, "keys.json", "tablet"}).err, HasSubstr("another protocom process is writing"))
          << change;
  }
  const Outcome open = protocom(folder_->path(), {"serve", "c.pcm", "--address", "0.0.0.0", "--port", "0"});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.err, HasSubstr("API keys"));
  const Outcome nameless = protocom(folder_->path(), {"serve", "c.pcm", "--port", "0", "--keys", ""});
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("expected a file of API keys"));
  Serving server(folder_->path(), {"--keys", "keys.json"});
  const std::string key = made.out.substr(0, made.out.find('\n'));
  EXPECT_EQ(Client(server.port()).ask("GET", "/v1/classes").status, 401);
  EXPECT_EQ(Client(server.port()).ask("GET", "/v1/classes", "", {{"Authorization", "Bearer " + key}}).status, 200);
  EXPECT_EQ(keys({"remove", "keys.json", "phone"}).exit_code, 0);
  EXPECT_EQ(keys({"remove", "keys.json", "phone"}).exit_code, 2);
}

}  // namespace
}  // namespace protocom::testing
