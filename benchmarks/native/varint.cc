// Varint decoding and encoding, backend by backend, against a byte loop; see measure.h, csrc/varint/varint.h.
//
// Figures are millions of values per second on one core, over 65,536 values cut into runs and decoded into one array
// that stays in the second-level cache. A case is the kind of values and the length of the runs.

#include "varint/varint.h"

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "measure.h"
#include "varint/backends.h"

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

// The encoded values in runs of `length`, and where each run ends.
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

using DecodeRun = bool (*)(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count);

// A feature with a known number of values: the capacity is exact.
bool Fixed(const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count) {
  return tfr::DecodeVarintRun(p, end, out, room, count) == end;
}

// A feature with any number of values, into an array whose size was counted.
bool Counted(const uint8_t* p, const uint8_t* end, int64_t* out, size_t, size_t* count) {
  *count = tfr::CountVarints(p, end);
  return tfr::DecodeVarints(p, end, out, *count) == end;
}

bool One(const uint8_t* p, const uint8_t* end, int64_t* out, size_t, size_t* count) {
  *count = 1;
  return tfr::DecodeOneVarint(end - 8, p, static_cast<size_t>(end - p), out);
}

constexpr double kMillions = 1e-6 * kValues;

void DecodeRow(const Workload& workload, size_t length, DecodeRun decode, const std::string& how) {
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
  const std::string name = std::string("decode ") + workload.name + ", runs of " + std::to_string(length);
  measure::Require(out == workload.values, how + ": " + name);
  measure::Row(name, how, "M/s", kMillions, work);
}

void DecodeRows(const Workload& workload, size_t length) {
  DecodeRow(workload, length, ByteLoop, "byte loop");
  if (length == 1) DecodeRow(workload, 1, One, "DecodeOneVarint");
  for (const char* backend : tfr::VarintBackends()) {
    tfr::SetVarintBackend(backend);
    DecodeRow(workload, length, Fixed, backend);
    if (length > 1) DecodeRow(workload, length, Counted, std::string(backend) + ", counted");
  }
}

void EncodeRows(const Workload& workload) {
  const std::vector<int64_t>& values = workload.values;
  const Runs expected = Cut(values, values.size());
  for (const char* backend : tfr::VarintBackends()) {
    tfr::SetVarintBackend(backend);
    const size_t size = tfr::EncodedVarintsSize(values.data(), values.size());
    std::vector<uint8_t> out(size);
    const auto work = [&] { tfr::EncodeVarints(values.data(), values.size(), out.data(), out.data() + size); };
    work();
    measure::Require(out == expected.bytes, std::string(backend) + ": encode " + workload.name);
    measure::Row(std::string("encode ") + workload.name, backend, "M/s", kMillions, work);
    measure::Row(std::string("size of ") + workload.name, backend, "M/s", kMillions,
                 [&] { measure::Keep(tfr::EncodedVarintsSize(values.data(), values.size())); });
  }
}

void LackingBackends() {
  const tfr::internal::VarintOps* const all[] = {
#if defined(__x86_64__)
      &tfr::internal::kAvx512VbmiVarint,
      &tfr::internal::kBmi2Varint,
      &tfr::internal::kAvx2Varint,
#endif
      &tfr::internal::kPortableVarint,
  };
  for (const auto* backend : all) {
    if (!backend->supported()) measure::Lacking(backend->name, "this processor lacks its instructions");
  }
}

}  // namespace

int main(int argc, char** argv) {
  measure::Arguments(argc, argv, 0);
  std::mt19937_64 random(1);
  const Workload workloads[] = {{"tokens", Zipf(1.3, 50000, &random)}, {"1 byte", UniformBits(7, &random)},
                                {"14 bits", UniformBits(14, &random)}, {"1-25 bits", MixedBits(25, &random)},
                                {"25 bits", UniformBits(25, &random)}, {"63 bits", UniformBits(63, &random)}};
  for (const Workload& workload : workloads) {
    for (const size_t length : kRunLengths) DecodeRows(workload, length);
  }
  for (const Workload& workload : workloads) EncodeRows(workload);
  LackingBackends();
}
