#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "cli/job.h"
#include "cli/recognizers.h"
#include "io/files.h"

namespace protocom::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// Runs classify, sort and enrol in several processes.
class DistributedRecognizer : public Recognizers {
 protected:
  static std::vector<std::string> in_small_batches(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--batch", "8", "--quiet", "--threads", "1"});
    return arguments;
  }

  static void expect_done(const std::vector<std::string>& arguments) {
    const Outcome outcome = protocom(folder_->path(), arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  /// Makes a folder of `times` links to each image of the run, with classes as subfolders.
  static void link_images(const std::string& folder, int times) {
    for (const auto& [name, files] : images_by_class()) {
      fs::create_directories(*folder_ / folder / name);
      for (const std::string& file : files) {
        for (int i = 0; i < times; ++i) {
          const fs::path image = out("images") / file;
          fs::create_hard_link(image, *folder_ / folder / name / (std::to_string(i) + "-" + image.filename().string()));
        }
      }
    }
  }

  /// Waits until a process of the job has written that many lines.
  static void wait_for_lines(const std::string& part, size_t lines) {
    for (int i = 0; i < 6000; ++i) {
      std::error_code ignored;
      const std::string text = fs::exists(*folder_ / part, ignored) ? read_text(*folder_ / part) : "";
      if (static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) > lines) return;
      std::this_thread::sleep_for(milliseconds(5));
    }
    FAIL() << part << " has no " << lines << " lines";
  }

  /// Starts two processes, kills one of them at work, and expects the other one to end with an error.
  static void run_and_kill(const std::vector<std::string>& arguments, const std::string& part) {
    Job job(folder_->path(), arguments, 2);
    wait_for_lines(part, 20);
    job.process(1).kill();
    job.process(1).wait();
    const Outcome other = job.process(0).wait();
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.err, HasSubstr("process 1 of 2"));
  }

  /// Marks the lines that processes have left, with matching hashes; returns how many there are.
  static size_t mark_lines(const std::string& folder) {
    size_t marked = 0;
    for (const std::string& name : files_below(*folder_ / folder)) {
      std::istringstream lines(read_text(*folder_ / folder / name));
      std::string header, line, text;
      std::getline(lines, header);
      text = header + '\n';
      for (; std::getline(lines, line) && !lines.eof(); text += line + '\n') marked += mark_line(header, line) ? 1 : 0;
      write_text(*folder_ / folder / name, text);
    }
    return marked;
  }

  static bool mark_line(const std::string& header, std::string& line) {
    const std::string plain = "\"line\":{";
    const size_t at = line.find(plain);
    if (at == std::string::npos) return false;
    line.insert(at + plain.size(), "\"kept\":true,");
    const std::string content = line.substr(line.find("\",\"number\":"));
    line = "{\"hash\":\"" + hash_bytes(header + content) + content;
    return true;
  }

  static size_t take_marks(std::string& text) {
    const std::string mark = "\"kept\":true,";
    size_t taken = 0;
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.erase(at, mark.size());
      ++taken;
    }
    return taken;
  }

  /// Returns every file below a folder with its content.
  static std::string tree(const std::string& folder) {
    std::string all;
    for (const std::string& name : files_below(*folder_ / folder))
      all += name + " " + hash_file(*folder_ / folder / name) + "\n";
    return all;
  }
};

TEST_F(DistributedRecognizer, ClassifyWritesTheLinesOfOneProcess) {
  create_with_classes("shared.pcm", 4);
  write_text(out("images") / "broken.jpg", "no image");
  const auto command = [](const std::string& file) {
    return in_small_batches({"classify", "shared.pcm", "out/images", "--out", file});
  };
  const Outcome printed =
      protocom(folder_->path(), in_small_batches({"classify", "shared.pcm", "out/images", "--format", "json"}));
  EXPECT_EQ(protocom(folder_->path(), command("one.jsonl")).exit_code, 1);
  for (const int size : {2, 3}) {
    const std::string file = std::to_string(size) + ".jsonl";
    Job job(folder_->path(), command(file), size);
    const Outcome leader = job.process(0).wait();
    EXPECT_EQ(leader.exit_code, 1) << leader.err;
    EXPECT_THAT(leader.err, HasSubstr("broken.jpg"));
    for (int rank = 1; rank < size; ++rank) {
      const Outcome other = job.process(static_cast<size_t>(rank)).wait();
      EXPECT_EQ(other.exit_code, 0) << other.err;
      EXPECT_EQ(other.out, "");
    }
    EXPECT_EQ(read_text(*folder_ / file), printed.out);
    EXPECT_FALSE(fs::exists(*folder_ / (file + ".parts")));
  }
  fs::remove(out("images") / "broken.jpg");
  EXPECT_EQ(read_text(*folder_ / "one.jsonl"), printed.out);
  EXPECT_EQ(json_lines(printed.out).size(), 320U);
}

TEST_F(DistributedRecognizer, ClassifyOfAllTogetherGivesTheAnswersOfOneProcess) {
  create_with_classes("batch.pcm", 4);
  const auto command = [](const std::string& file) {
    return in_small_batches({"classify", "batch.pcm", "out/images", "--batch-together", "--out", file});
  };
  expect_done(command("together-1.jsonl"));
  Job(folder_->path(), command("together-2.jsonl"), 2).expect_success();
  EXPECT_EQ(json_lines(read_text(*folder_ / "together-1.jsonl")).at(0).at("mode"), "transductive");
  EXPECT_EQ(read_text(*folder_ / "together-1.jsonl"), read_text(*folder_ / "together-2.jsonl"));
}

TEST_F(DistributedRecognizer, TheShareOfAKilledProcessIsTakenUpAgain) {
  create_with_classes("killed.pcm", 4);
  link_images("many", 4);
  const auto command = [](const std::string& file) {
    return in_small_batches({"classify", "killed.pcm", "many", "--out", file});
  };
  std::vector<std::string> resumed = command("answers.jsonl");
  resumed.emplace_back("--resume");
  run_and_kill(command("answers.jsonl"), "answers.jsonl.parts/1-1.jsonl");
  EXPECT_FALSE(fs::exists(*folder_ / "answers.jsonl"));
  const size_t marked = mark_lines("answers.jsonl.parts");
  EXPECT_GE(marked, 20U);

  std::vector<std::string> other = resumed;
  other.insert(other.end(), {"--top", "2"});
  const Outcome refused = protocom(folder_->path(), other);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("answers.jsonl.parts is of a job with other files, options"));

  Job(folder_->path(), resumed, 3).expect_success();
  expect_done(command("whole.jsonl"));
  std::string answers = read_text(*folder_ / "answers.jsonl");
  const size_t kept = take_marks(answers);
  EXPECT_LE(kept, marked);
  EXPECT_GE(kept + 16, marked) << "of each process less than a batch was done again";
  EXPECT_EQ(answers, read_text(*folder_ / "whole.jsonl"));
  EXPECT_FALSE(fs::exists(*folder_ / "answers.jsonl.parts"));
}

TEST_F(DistributedRecognizer, SortPutsImagesWhereOneProcessDoes) {
  create_with_classes("sorter.pcm", 4);
  const auto command = [](const std::string& folder) {
    return in_small_batches({"sort", "sorter.pcm", "out/images", "--out", folder});
  };
  expect_done(command("sorted-1"));
  const std::string class_name = files_below(*folder_ / "sorted-1").back();
  // The job fails after some images, where it cannot make a folder; the next one continues with the others.
  fs::create_directories(*folder_ / "sorted-2");
  const fs::path in_the_way = *folder_ / "sorted-2" / class_name.substr(0, class_name.find('/'));
  write_text(in_the_way, "");
  {
    Job job(folder_->path(), command("sorted-2"), 2);
    const Outcome leader = job.process(0).wait();
    EXPECT_EQ(leader.exit_code, 1);
    EXPECT_THAT(leader.err, HasSubstr("cannot put"));
    job.process(1).wait();
  }
  fs::remove(in_the_way);
  std::vector<std::string> resumed = command("sorted-2");
  resumed.emplace_back("--resume");
  Job(folder_->path(), resumed, 2).expect_success();
  EXPECT_EQ(tree("sorted-1"), tree("sorted-2"));
  EXPECT_FALSE(fs::exists(*folder_ / "sorted-2.parts"));
}

TEST_F(DistributedRecognizer, EnrolmentIsThatOfOneProcess) {
  link_images("photos", 4);
  const auto command = [](const std::string& file) {
    return std::vector<std::string>{"enrol", file, "--folder", "photos", "--quiet", "--threads", "1"};
  };
  for (const char* file : {"e-1.pcm", "e-2.pcm"}) EXPECT_EQ(create(file).exit_code, 0);
  expect_done(command("e-1.pcm"));
  run_and_kill(command("e-2.pcm"), "e-2.pcm.parts/1-1.jsonl");
  EXPECT_EQ(images_in("e-2.pcm"), 0);
  EXPECT_GE(mark_lines("e-2.pcm.parts"), 20U);
  std::vector<std::string> resumed = command("e-2.pcm");
  resumed.emplace_back("--resume");
  Job(folder_->path(), resumed, 2).expect_success();
  EXPECT_FALSE(fs::exists(*folder_ / "e-2.pcm.parts"));
  std::vector<std::string> answers;
  for (const char* file : {"e-1.pcm", "e-2.pcm"}) {
    const Outcome outcome =
        protocom(folder_->path(), in_small_batches({"classify", file, "out/images", "--format", "json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    answers.push_back(outcome.out);
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(images_in("e-1.pcm"), images_in("e-2.pcm"));
}

TEST_F(DistributedRecognizer, WhatDoesNotGoTogetherIsSaid) {
  create_with_classes("words.pcm", 2);
  const Outcome csv = protocom(
      folder_->path(), {"classify", "words.pcm", "out/images", "--out", "a.csv", "--format", "csv", "--resume"});
  EXPECT_EQ(csv.exit_code, 2);
  EXPECT_THAT(csv.err, HasSubstr("--resume needs --out, beside which lines of JSON are kept"));
  const Outcome resume = protocom(folder_->path(), {"classify", "words.pcm", "out/images", "--resume"});
  EXPECT_EQ(resume.exit_code, 2);
  EXPECT_THAT(resume.err, HasSubstr("--resume needs --out"));
}

}  // namespace
}  // namespace protocom::testing
