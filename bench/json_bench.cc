// The JSON value against nlohmann/json and Boost.JSON, in one binary, on realistic Kubernetes objects (bench/data).
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/ratio_table.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/value.h"

namespace {

using baton::json::Value;

const std::vector<std::string>& Texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> read;
    for (const char* name : {"deployment", "pod", "flinkdeployment", "crd", "configmaps"}) {
      std::ifstream file(std::string(BATON_SOURCE_DIR "/bench/data/") + name + ".json");
      std::stringstream text;
      text << file.rdbuf();
      read.push_back(text.str());
    }
    return read;
  }();
  return texts;
}

size_t TextBytes() {
  size_t bytes = 0;
  for (const std::string& text : Texts()) bytes += text.size();
  return bytes;
}

// One trait per library: the same five operations in each one's own best form.
struct Ours {
  using Document = Value;
  static Document Parse(const std::string& text) { return baton::json::Parse(text).value(); }
  static std::string Print(const Document& document) { return baton::json::Print(document); }
  static void SetField(Document& document) { document.Edit("metadata").Edit("labels").Edit("touched") = "yes"; }
};
struct Nlohmann {
  using Document = nlohmann::json;
  static Document Parse(const std::string& text) { return nlohmann::json::parse(text); }
  static std::string Print(const Document& document) { return document.dump(); }
  static void SetField(Document& document) { document["metadata"]["labels"]["touched"] = "yes"; }
};
struct BoostJson {
  using Document = boost::json::value;
  static Document Parse(const std::string& text) {
    boost::json::parse_options options;
    options.max_depth = 256;
    return boost::json::parse(text, {}, options);
  }
  static std::string Print(const Document& document) { return boost::json::serialize(document); }
  static void SetField(Document& document) {
    auto& metadata = document.as_object()["metadata"].as_object();
    if (!metadata["labels"].is_object()) metadata["labels"] = boost::json::object();
    metadata["labels"].as_object()["touched"] = "yes";
  }
};

template <class Library>
std::vector<typename Library::Document> ParseAll() {
  std::vector<typename Library::Document> documents;
  for (const std::string& text : Texts()) documents.push_back(Library::Parse(text));
  return documents;
}

template <class Library>
void BmParse(benchmark::State& state) {
  for (auto _ : state) {
    for (const std::string& text : Texts()) benchmark::DoNotOptimize(Library::Parse(text));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * TextBytes()));
}

template <class Library>
void BmPrint(benchmark::State& state) {
  const auto documents = ParseAll<Library>();
  for (auto _ : state) {
    for (const auto& document : documents) benchmark::DoNotOptimize(Library::Print(document));
  }
}

template <class Library>
void BmCopy(benchmark::State& state) {
  const auto documents = ParseAll<Library>();
  for (auto _ : state) {
    for (const auto& document : documents) {
      typename Library::Document copy(document);
      benchmark::DoNotOptimize(copy);
    }
  }
}

// Of two documents that were parsed apart, so that nothing is shared.
template <class Library>
void BmEqual(benchmark::State& state) {
  const auto left = ParseAll<Library>();
  const auto right = ParseAll<Library>();
  for (auto _ : state) {
    for (size_t i = 0; i < left.size(); ++i) benchmark::DoNotOptimize(left[i] == right[i]);
  }
}

template <class Library>
void BmPatch(benchmark::State& state) {
  const auto documents = ParseAll<Library>();
  for (auto _ : state) {
    for (const auto& document : documents) {
      typename Library::Document copy(document);
      Library::SetField(copy);
      benchmark::DoNotOptimize(copy);
    }
  }
}

constexpr int kRepetitions = 5;

template <class Library>
void RegisterAll(const std::string& who) {
  const auto add = [&](const char* what, void (*function)(benchmark::State&)) {
    benchmark::RegisterBenchmark((std::string(what) + "/" + who).c_str(), function)
        ->Repetitions(kRepetitions)
        ->ReportAggregatesOnly(false);
  };
  add("parse", BmParse<Library>);
  add("print", BmPrint<Library>);
  add("copy", BmCopy<Library>);
  add("equal", BmEqual<Library>);
  add("patch", BmPatch<Library>);
}

// Heap bytes per byte of text, over enough copies to make the rest of the heap disappear.
template <class Library>
double MemoryPerTextByte() {
  constexpr size_t kCopies = 50;
  ParseAll<Library>();  // caches are warm and stay out of the figure
  const size_t before = mallinfo2().uordblks;
  std::vector<std::vector<typename Library::Document>> kept;
  kept.reserve(kCopies);
  for (size_t i = 0; i < kCopies; ++i) kept.push_back(ParseAll<Library>());
  return static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(TextBytes() * kCopies);
}

bool PrintMemory() {
  constexpr double kGoal = 4.0;
  const double ours = MemoryPerTextByte<Ours>();
  std::printf("%-24s ours %.2fx of the text, nlohmann %.2fx, Boost.JSON %.2fx; goal under %.2fx %s\n", "memory", ours,
              MemoryPerTextByte<Nlohmann>(), MemoryPerTextByte<BoostJson>(), kGoal,
              ours < kGoal ? "reached" : "MISSED");
  return ours < kGoal;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  RegisterAll<Ours>("ours");
  RegisterAll<Nlohmann>("nlohmann");
  RegisterAll<BoostJson>("boost");
  baton::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const bool speed = reporter.PrintGoals({
      {"parse vs nlohmann", "parse/ours", "parse/nlohmann", 2.5},
      {"print vs nlohmann", "print/ours", "print/nlohmann", 2.0},
      {"copy vs Boost.JSON", "copy/ours", "copy/boost", 50},
      {"equality vs Boost.JSON", "equal/ours", "equal/boost", 50},
      {"equality vs nlohmann", "equal/ours", "equal/nlohmann", 0},
      {"one field vs Boost.JSON", "patch/ours", "patch/boost", 0},
      {"one field vs nlohmann", "patch/ours", "patch/nlohmann", 0},
      {"parse vs Boost.JSON", "parse/ours", "parse/boost", 0},
      {"print vs Boost.JSON", "print/ours", "print/boost", 0},
  });
  return PrintMemory() && speed ? 0 : 1;
}
