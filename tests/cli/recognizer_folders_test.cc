#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "cli/recognizers.h"
#include "io/output_lock.h"
#include "support/environment.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Recognizers, SortIntoAFolderForEachClass) {
  const auto by_class = images_by_class();
  ASSERT_EQ(create("sort.pcm").exit_code, 0);
  std::vector<std::string> sort = {"sort", "sort.pcm", "--out", "sorted"};
  for (const auto& entry : {*by_class.begin(), *std::next(by_class.begin())}) {
    const std::string image = (out("images") / entry.second[0]).string();
    ASSERT_EQ(protocom(folder_->path(), {"enrol", "sort.pcm", image, "--class", "../" + entry.first}).exit_code, 0);
    sort.push_back(image);
  }
  sort.push_back(sort.back());
  const Outcome sorted = protocom(folder_->path(), sort);
  ASSERT_EQ(sorted.exit_code, 0) << sorted.err;
  const std::string first = fs::path(sort[4]).filename(), second = fs::path(sort[5]).stem();
  const std::string one = "_.._" + by_class.begin()->first, other = "_.._" + std::next(by_class.begin())->first;
  EXPECT_THAT(files_below(*folder_ / "sorted"),
              ::testing::UnorderedElementsAre(one + "/" + first, other + "/" + second + ".jpg",
                                              other + "/" + second + "-2.jpg"))
      << "a class's name leads nowhere else, and nothing is replaced";
  sort.insert(sort.end(), {"--link"});
  EXPECT_EQ(protocom(folder_->path(), sort).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(*folder_ / "sorted" / one / (fs::path(first).stem().string() + "-2.jpg")));
  fs::create_directories(*folder_ / "unsorted");
  fs::copy_file(sort[4], *folder_ / "unsorted/whole.jpg");
  write_text(*folder_ / "unsorted/cut.jpg", "\xff\xd8\xff");
  write_text(*folder_ / "unsorted/notes.txt", "no image");
  const Outcome mixed = protocom(folder_->path(), {"sort", "sort.pcm", "unsorted", "--out", "apart"});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_THAT(mixed.err, HasSubstr("1 of 2 images could not be read"));
  EXPECT_THAT(mixed.err, HasSubstr("1 file is ignored: 1 .txt"));
  EXPECT_THAT(files_below(*folder_ / "apart"), ::testing::SizeIs(1));
}

TEST_F(Recognizers, SortPutsNothingBehindALinkInThePlaceOfAClass) {
  ASSERT_EQ(create("behind.pcm").exit_code, 0);
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "behind.pcm", image, "--class", "robin"}).exit_code, 0);
  fs::create_directories(*folder_ / "elsewhere");
  fs::create_directories(*folder_ / "linked");
  fs::create_directory_symlink(*folder_ / "elsewhere", *folder_ / "linked/robin");
  const Outcome sorted = protocom(folder_->path(), {"sort", "behind.pcm", image, "--out", "linked"});
  EXPECT_EQ(sorted.exit_code, 1);
  EXPECT_THAT(sorted.err, HasSubstr("linked/robin: it is a symbolic link"));
  EXPECT_TRUE(fs::is_empty(*folder_ / "elsewhere"));
}

TEST_F(Recognizers, SortsIntoAFolderInOneProcessAtATime) {
  ASSERT_EQ(create("one.pcm").exit_code, 0);
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "one.pcm", image, "--class", "robin"}).exit_code, 0);
  const std::vector<std::string> sort = {"sort", "one.pcm", image, "--out", "one"};
  {
    fs::create_directories(*folder_ / "one");
    const OutputLock lock(*folder_ / "one" / "");
    const Outcome sorted = protocom(folder_->path(), sort);
    EXPECT_EQ(sorted.exit_code, 1);
    EXPECT_THAT(sorted.err, HasSubstr("another protocom process is writing one/: wait for it to end"));
    EXPECT_THAT(files_below(*folder_ / "one"), ::testing::ElementsAre(".lock"));
  }
  EXPECT_EQ(protocom(folder_->path(), sort).exit_code, 0);
  EXPECT_THAT(files_below(*folder_ / "one"), ::testing::SizeIs(1));
}

TEST_F(Recognizers, NoClassIsCalledAsTheAnswerForNoneOfThem) {
  ASSERT_EQ(create("robins.pcm").exit_code, 0);
  const std::string image = (out("images") / first_image()).string();
  const Outcome enrolled = protocom(folder_->path(), {"enrol", "robins.pcm", image, "--class", "None of these"});
  EXPECT_EQ(enrolled.exit_code, 2);
  EXPECT_THAT(enrolled.err, HasSubstr("no class can be called 'None of these'"));
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "robins.pcm", image, "--class", "robin"}).exit_code, 0);
  EXPECT_EQ(protocom(folder_->path(), {"classes", "rename", "robins.pcm", "robin", "none of these"}).exit_code, 2);
}

// The log of a killed run says where an image was put; a half-written file there is replaced.
TEST_F(Recognizers, SortReplacesNoFileThatAPlantedLogNames) {
  create_with_classes("planted-log.pcm", 3);
  const std::string image = (out("images") / images_by_class().begin()->second[0]).string();
  const fs::path precious = *folder_ / "precious.txt";
  const auto hex = [](const std::string& text) {
    std::string digits;
    for (const unsigned char c : text) digits += fmt::format("{:02x}", c);
    return digits;
  };
  const auto sorted = [&](const std::string& log) {
    fs::remove_all(*folder_ / "into");
    write_text(precious, "precious");
    write_text(*folder_ / "into.parts/places.jsonl", log);
    const Outcome done = protocom(folder_->path(), {"sort", "planted-log.pcm", image, "--out", "into", "--resume"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(read_text(precious), "precious") << log;
    return files_below(*folder_ / "into");
  };
  const std::vector<std::string> usual = sorted("");
  ASSERT_EQ(usual.size(), 1U);
  EXPECT_EQ(sorted(R"({"number":0,"place":")" + hex(precious.string()) + "\"}\n"), usual);
  EXPECT_EQ(sorted(R"({"number":0,"place":")" + hex("into/../precious.txt") + "\"}\n"), usual);
  EXPECT_EQ(sorted("{}\n[]\n5\n{\"number\":-1,\"place\":\"00\"}\n{\"number\":0,\"place\":\"zz\"}\n"), usual);
}

TEST_F(Recognizers, AreWrittenAsOnnxFiles) {
  create_with_classes("taught.pcm", 3);
  const auto exported = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"recognizer", "export-onnx", "taught.pcm"});
    return protocom(folder_->path(), more);
  };
  const Outcome whole = exported({"taught.onnx"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.out, AllOf(HasSubstr("  preprocessing: shorter side "), HasSubstr(", crop "),
                               HasSubstr("probabilities [n, 3]")));
  const Outcome apart = exported({"taught.onnx", "--external-data"});
  EXPECT_THAT(apart.out, ContainsRegex("taught\\.onnx\\.[0-9a-f]{16}\\.data: [0-9]+ bytes of weights"));
  EXPECT_EQ(exported({"taught.onnx", "--external-data", "--html", "x.html", "--runtime", "."}).exit_code, 2);
  const Outcome head = exported({"taught.onnx", "--features", "--half", "--method", "mean"});
  EXPECT_EQ(head.exit_code, 0) << head.err;
  EXPECT_THAT(head.out, HasSubstr("probabilities [n, 3]"));
  EXPECT_THAT(read_text(*folder_ / "taught.labels.txt"), HasSubstr(images_by_class().begin()->first));
  EXPECT_EQ(exported({"taught.onnx", "--features", "--uint8"}).exit_code, 2);
  const Outcome together = exported({"other.onnx", "--features", "--method", "gauss-fusion"});
  EXPECT_EQ(together.exit_code, 2);
  EXPECT_THAT(together.err, HasSubstr("'gauss-fusion' cannot be exported: it classifies all images jointly"));
  EXPECT_EQ(exported({"taught.pcm/x.onnx", "--features"}).exit_code, 1);
  write_text(*folder_ / "notes.onnx", "my notes");
  EXPECT_THAT(exported({"notes.onnx", "--features"}).err, HasSubstr("is not an export of this recognizer"));
  EXPECT_EQ(read_text(*folder_ / "notes.onnx"), "my notes");
  EXPECT_THAT(exported({"/dev/null", "--features"}).err,
              HasSubstr("expected the name of a file, beside which its labels"));
  EXPECT_FALSE(std::filesystem::exists("/dev/null.labels.txt"));
}

TEST_F(Recognizers, CountAFolderOfASequenceAsOneMoment) {
  for (const auto& [name, images] : images_by_class()) {
    for (size_t i = 0; i < 4; ++i) {
      const fs::path visit = *folder_ / "visited" / name / (i < 2 ? "visit1" : "visit2");
      fs::create_directories(visit);
      fs::copy_file(out("images") / images[i], visit / (std::to_string(i) + ".jpg"));
    }
    if (fs::exists(*folder_ / "visited" / name) && name != images_by_class().begin()->first) break;
  }
  const std::vector<std::string> create = {
      "recognizer", "create", "visits.pcm", "--backbone", out("backbone.npz").string(), "--images", "visited"};
  const Outcome made = protocom(folder_->path(), create);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("2 classes, 8 photos, 4 moments"));
  EXPECT_THAT(made.err, HasSubstr("each folder of a sequence counts as one moment, 4 in all"));
  EXPECT_THAT(made.err, Not(HasSubstr("each read as one class")));
}

TEST_F(Recognizers, KeepPhotosThatNobodyHasSorted) {
  const std::vector<std::string> parts = {"--backbone", out("backbone.npz").string(), "--images", "named"};
  size_t taken = 0;
  for (const auto& [name, images] : images_by_class()) {
    if (++taken > 3) break;
    fs::create_directories(*folder_ / "named" / name);
    fs::create_directories(*folder_ / "pile");
    for (size_t i = 0; i < images.size(); ++i)
      fs::copy_file(out("images") / images[i],
                    *folder_ / (i < 3 ? "named/" + name : "pile") / (name + std::to_string(i) + ".jpg"),
                    fs::copy_options::overwrite_existing);
  }
  std::vector<std::string> create = {"recognizer", "create", "pile.pcm"};
  create.insert(create.end(), parts.begin(), parts.end());
  const Outcome alone = protocom(folder_->path(), create);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr(": expected accuracy on new photos "));
  EXPECT_THAT(alone.out, Not(HasSubstr("unsorted")));
  const Outcome added = protocom(folder_->path(), {"enrol", "pile.pcm", "--unlabelled", "pile"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.out, HasSubstr("unlabelled photos added"));
  EXPECT_THAT(protocom(folder_->path(), {"recognizer", "info", "pile.pcm"}).out, HasSubstr("unlabelled images"));
  EXPECT_THAT(protocom(folder_->path(), {"recognizer", "info", "pile.pcm"}).out,
              HasSubstr("class means counted 1 times"))
      << "as with every pile";
  EXPECT_THAT(protocom(folder_->path(), {"undo", "pile.pcm"}).out, HasSubstr("unlabelled image"));
  EXPECT_THAT(protocom(folder_->path(), {"recognizer", "info", "pile.pcm"}).out,
              HasSubstr("class means counted 0.4 times"));
  create[2] = "with.pcm";
  create.insert(create.end(), {"--unlabelled", "pile"});
  const Outcome with = protocom(folder_->path(), create);
  ASSERT_EQ(with.exit_code, 0) << with.err;
  EXPECT_THAT(with.out, HasSubstr("% without the "));
  const Outcome both = protocom(folder_->path(), {"enrol", "pile.pcm", "--unlabelled", "pile", "--class", "zebra"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("cannot be combined with classes"));
  ASSERT_EQ(this->create("fixed.pcm").exit_code, 0);
  const Outcome fixed = protocom(folder_->path(), {"enrol", "fixed.pcm", "--unlabelled", "pile"});
  EXPECT_EQ(fixed.exit_code, 2);
  EXPECT_THAT(fixed.err, HasSubstr("has the fixed space"));
}

TEST_F(Recognizers, AreToldApartInASpaceOfPhotosWithoutClasses) {
  const std::string backbone = out("backbone.npz").string();
  const Outcome nothing = protocom(folder_->path(), {"fit", "--out", "space.npz"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--features is required, or --unlabelled"));
  const std::string images = out("images").string();
  const Environment named("PROTOCOM_ENCODER", "nobodys-encoder");
  const Outcome bare = protocom(folder_->path(), {"fit", "--unlabelled", images, "--out", "space.npz"});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_THAT(bare.err, HasSubstr("no --backbone is given"));
  const Outcome made =
      protocom(folder_->path(), {"fit", "--unlabelled", images, "--backbone", backbone, "--out", "space.npz"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(
      protocom(folder_->path(), {"recognizer", "create", "spaced.pcm", "--backbone", backbone, "--space", "space.npz"})
          .exit_code,
      0);
  EXPECT_EQ(protocom(folder_->path(), {"enrol", "spaced.pcm", image, "--class", "one"}).exit_code, 0);
}

TEST_F(Recognizers, SortIntoAFolderWhateverBytesAClassNameHas) {
  ASSERT_EQ(create("bytes.pcm").exit_code, 0);
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "bytes.pcm", image, "--class", "qqNULqq"}).exit_code, 0);
  std::string file = read_text(*folder_ / "bytes.pcm");
  for (size_t at = file.find("qqNULqq"); at != std::string::npos; at = file.find("qqNULqq", at)) file[at + 2] = '\0';
  write_text(*folder_ / "bytes.pcm", file);
  const Outcome sorted = protocom(folder_->path(), {"sort", "bytes.pcm", image, "--out", "bytes"});
  EXPECT_EQ(sorted.exit_code, 0) << sorted.err;
  EXPECT_THAT(files_below(*folder_ / "bytes"),
              ::testing::ElementsAre("qq_ULqq/" + fs::path(image).filename().string()));
}

TEST_F(Recognizers, APipeInPlaceOfAnImageOrABackboneIsRefusedAtOnce) {
  ASSERT_EQ(create("pipes.pcm").exit_code, 0);
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "pipes.pcm", image, "--class", "dog"}).exit_code, 0);
  ASSERT_EQ(::mkfifo((*folder_ / "pipe.jpg").c_str(), 0600), 0);
  const Outcome classified = protocom(folder_->path(), {"classify", "pipes.pcm", "pipe.jpg"});
  EXPECT_EQ(classified.exit_code, 1);
  EXPECT_THAT(classified.err, HasSubstr("pipe.jpg: it is a pipe, expected a plain file"));
  const Outcome made =
      protocom(folder_->path(), {"recognizer", "create", "none.pcm", "--backbone", "/dev/zero", "--model",
                                 out("model.npz").string(), "--knowledge", out("knowledge.npz").string()});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_THAT(made.err, HasSubstr("/dev/zero: it is a device"));
}

TEST_F(Recognizers, SortNamesThatWouldBeOneFolderIntoTwo) {
  const auto by_class = images_by_class();
  ASSERT_EQ(create("twins.pcm").exit_code, 0);
  std::vector<std::string> sort = {"sort", "twins.pcm", "--out", "twins"};
  auto own = by_class.begin();
  for (const char* name : {"a/b", "a_b", "none/of these"}) {
    sort.push_back((out("images") / (own++)->second[0]).string());
    ASSERT_EQ(protocom(folder_->path(), {"enrol", "twins.pcm", sort.back(), "--class", name}).exit_code, 0);
  }
  const Outcome sorted = protocom(folder_->path(), sort);
  ASSERT_EQ(sorted.exit_code, 0) << sorted.err;
  std::vector<std::string> folders;
  for (const std::string& file : files_below(*folder_ / "twins")) folders.push_back(file.substr(0, file.find('/')));
  EXPECT_THAT(folders, ::testing::UnorderedElementsAre("a_b", "a_b-2", "none_of these"));
}

TEST_F(Recognizers, AnswerWhatArrivesInAFolder) {
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(create("watch.pcm").exit_code, 0);
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "watch.pcm", image, "--class", "seen"}).exit_code, 0);
  fs::create_directories(*folder_ / "arrivals");
  Program watching(folder_->path(), {"watch", "watch.pcm", "arrivals", "--most", "1"});
  std::atomic<bool> ended{false};
  std::thread arriving([&] {  // waits until the program watches
    for (int64_t n = 0; !ended; ++n) {
      write_text(*folder_ / "arrivals" / (std::to_string(n) + ".jpg"), read_text(image));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  const Outcome outcome = watching.wait();
  ended = true;
  arriving.join();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json answer = json_lines(outcome.out).at(0);
  EXPECT_THAT(answer.at("image").get<std::string>(), HasSubstr("arrivals/"));
  EXPECT_EQ(answer.at("ranking")[0].at("class"), "seen");
}

TEST_F(Recognizers, WatchEndsAfterSoManyImagesThoseThatWereThereAmongThem) {
  const std::string image = create_with_classes("most.pcm", 1).front();
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) write_text(*folder_ / "waiting" / name, read_text(image));
  const Outcome outcome = protocom(folder_->path(), {"watch", "most.pcm", "waiting", "--existing", "--most", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json_lines(outcome.out).size(), 2u);
}

/// Waits until `what` returns true, at most a minute.
bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 600 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return what();
}

/// Opens a file for writing and closes it, which notifies watchers of the folder.
void touch(const fs::path& path) { ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); }

TEST_F(Recognizers, WatchMissesNoImageAndSaysWhenTheFolderIsGone) {
  const std::string image = create_with_classes("missed.pcm", 1).front();
  const fs::path folder = *folder_ / "busy";
  write_text(folder / "there.jpg", read_text(image));
  Program watching(folder_->path(), {"watch", "missed.pcm", "busy", "--existing", "--log-file", "missed.log"});
  const auto answers = [&](const char* name) {
    return comes_true([&] { return watching.out_so_far().find(name) != std::string::npos; });
  };
  ASSERT_TRUE(answers("there.jpg")) << watching.out_so_far();
  watching.signal(SIGSTOP);
  const int most = std::stoi(read_text("/proc/sys/fs/inotify/max_queued_events"));
  for (int i = 0; i < most + 10; ++i) touch(folder / (i % 2 == 0 ? "a.txt" : "b.txt"));
  write_text(folder / "late.jpg", read_text(image));  // of which watchers are not notified
  watching.signal(SIGCONT);
  EXPECT_TRUE(answers("late.jpg")) << watching.out_so_far();
  const std::string name = images_by_class().begin()->first;
  ASSERT_EQ(protocom(folder_->path(), {"classes", "remove", "missed.pcm", name}).exit_code, 0);
  write_text(folder / "lost.jpg", read_text(image));
  EXPECT_TRUE(
      comes_true([&] { return read_text(*folder_ / "missed.log").find("no class is enrolled") != std::string::npos; }));
  ASSERT_EQ(protocom(folder_->path(), {"undo", "missed.pcm"}).exit_code, 0);
  write_text(folder / "after.jpg", read_text(image));
  EXPECT_TRUE(answers("after.jpg"));
  fs::remove_all(folder);
  const Outcome outcome = watching.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("busy: it no longer exists"));
}

}  // namespace
}  // namespace protocom::testing
