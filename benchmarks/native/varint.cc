// Varint decoding and encoding, backend by backend, against a byte loop. Checks every answer before it prints a time.
//
//   g++ -std=c++20 -O3 -Icsrc benchmarks/native/varint.cc csrc/varint/*.cc csrc/base/cpu.cc -o /tmp/varint &&
//   /tmp/varint
//
// Figures are millions of values a second on one core, the best of several rounds, over 65,536 values cut into runs
// and decoded into one array that stays in the second-level cache. An argument replaces the number of rounds.

#include "varint/varint.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kValues = 1 << 16;
constexpr size_t kRunLengths[] = {1, 4, 16, 64, 512};

struct Workload {
  const char* name;
  std::vector<int64_t> values;
};

// Ranks 1 to `below` with probability proportional to rank^-exponent.
std::vector<int64_t> Zipf(double exponent, int below, std::mt19937_64* random) {
  std::vector<double> weights;
  for (int rank = 1; rank <= below; ++rank) weights.push_back(std::pow(rank, -exponent));
  std::discrete_distribution<int> draw(weights.begin(), weights.end());
  std::vector<int64_t> values(kValues);
  for (int64_t& value : values) value = draw(*random);
  return values;
}

std::vector<int64_t> UniformBits(int bits, std::mt19937_64* random) {
  std::vector<int64_t> values(kValues);
  for (int64_t& value : values) value = static_cast<int64_t>((*random)() >> (64 - bits));
  return values;
}

// Each value's number of bits is drawn from 1 to `most`: the scalars of click logs.
std::vector<int64_t> MixedBits(int most, std::mt19937_64* random) {
  std::vector<int64_t> values(kValues);
  for (int64_t& value : values) value = static_cast<int64_t>((*random)() >> (64 - 1 - (*random)() % most));
  return values;
}

// The values' encoding in runs of `length`, and where each run ends.
struct Runs {
  std::vector<uint8_t> bytes;
  std::vector<size_t> ends;
};

Runs Cut(const std::vector<int64_t>& values, size_t length) {
  Runs runs;
  for (size_t i = 0; i < values.size(); ++i) {
    uint8_t varint[tfr::kMaxVarintSize];
    uint8_t* const end = tfr::EncodeVarint(static_cast<uint64_t>(values[i]), varint);
    runs.bytes.insert(runs.bytes.end(), varint, end);
    if ((i + 1) % length == 0 || i + 1 == values.size()) runs.ends.push_back(runs.bytes.size());
  }
  return runs;
}

bool ByteLoop(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count) {
  size_t n = 0;
  while (p < end) {
    uint64_t value = 0;
    int shift = 0;
    uint8_t byte;
    do {
      if (p == end || shift == 70) return false;
      byte = *p++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    if (n == room) return false;
    out[n++] = static_cast<int64_t>(value);
  }
  *count = n;
  return true;
}

void Require(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong answer: %s\n", what.c_str());
  std::exit(1);
}

int rounds = 40;

// Millions of values a second of `work`, which handles kValues.
double Rate(const std::function<void()>& work) {
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::max(best, kValues / spent.count() / 1e6);
  }
  return best;
}

using DecodeRun = bool (*)(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count);

// A feature of a known number of values: capacity is exact.
bool Fixed(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count) {
  return tfr::DecodeVarintRun(p, end, out, room, count) == end;
}

// A feature of any number, into an array that has been counted for.
bool Counted(const uint8_t* p, const uint8_t* end, int64_t* out, size_t, size_t* count) {
  *count = tfr::CountVarints(p, end);
  return tfr::DecodeVarints(p, end, out, *count) == end;
}

bool One(const uint8_t* p, const uint8_t* end, int64_t* out, size_t, size_t* count) {
  *count = 1;
  return tfr::DecodeOneVarint(end - 8, p, static_cast<size_t>(end - p), out);
}

double DecodeRate(const Workload& workload, size_t length, DecodeRun decode, const std::string& name) {
  Runs runs = Cut(workload.values, length);
  // In a record a run has tags, lengths and a key before it.
  constexpr size_t kBefore = 8;
  runs.bytes.insert(runs.bytes.begin(), kBefore, 0);
  std::vector<int64_t> out(kValues);
  const auto work = [&] {
    const uint8_t* const begin = runs.bytes.data() + kBefore;
    const uint8_t* p = begin;
    int64_t* o = out.data();
    for (const size_t end : runs.ends) {
      size_t count;
      if (!decode(p, begin + end, o, length, &count)) std::abort();
      o += count;
      p = begin + end;
    }
  };
  work();
  Require(out == workload.values, name + " on " + workload.name);
  return Rate(work);
}

void PrintRow(const char* workload, const std::string& how, const std::vector<double>& rates) {
  std::printf("%-10s %-22s", workload, how.c_str());
  for (const double rate : rates) std::printf(" %7.0f", rate);
  std::printf("\n");
  std::fflush(stdout);
}

void DecodeTable(const Workload& workload) {
  const auto row = [&](const std::string& how, DecodeRun decode) {
    std::vector<double> rates;
    for (const size_t length : kRunLengths) rates.push_back(DecodeRate(workload, length, decode, how));
    PrintRow(workload.name, how, rates);
  };
  row("byte loop", ByteLoop);
  for (const char* backend : tfr::VarintBackends()) {
    tfr::SetVarintBackend(backend);
    row(backend, Fixed);
    row(std::string(backend) + ", counted", Counted);
  }
  PrintRow(workload.name, "one at a time", {DecodeRate(workload, 1, One, "DecodeOneVarint")});
}

void EncodeTable(const Workload& workload) {
  const std::vector<int64_t>& values = workload.values;
  const Runs expected = Cut(values, values.size());
  for (const char* backend : tfr::VarintBackends()) {
    tfr::SetVarintBackend(backend);
    std::vector<uint8_t> out(tfr::EncodedVarintsSize(values.data(), values.size()));
    const auto work = [&] { tfr::EncodeVarints(values.data(), values.size(), out.data()); };
    work();
    Require(out == expected.bytes, std::string(backend) + " encoding " + workload.name);
    size_t size = 0;
    const double sizes = Rate([&] { size += tfr::EncodedVarintsSize(values.data(), values.size()); });
    Require(size == out.size() * static_cast<size_t>(rounds), "size");
    PrintRow(workload.name, backend, {Rate(work), sizes});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rounds = std::atoi(argv[1]);
  std::mt19937_64 random(1);
  const Workload workloads[] = {{"tokens", Zipf(1.3, 50000, &random)}, {"1 byte", UniformBits(7, &random)},
                                {"14 bits", UniformBits(14, &random)}, {"1-25 bits", MixedBits(25, &random)},
                                {"25 bits", UniformBits(25, &random)}, {"63 bits", UniformBits(63, &random)}};
  std::printf("decoding, M values/s  run of");
  for (const size_t length : kRunLengths) std::printf(" %7zu", length);
  std::printf("\n");
  for (const Workload& workload : workloads) DecodeTable(workload);
  std::printf("\nencoding, M values/s             encode    size\n");
  for (const Workload& workload : workloads) EncodeTable(workload);
}
