// Walking through records; see collector.h. If a key is given twice in a record, the last one counts.

#include "stats/collector.h"

#include <algorithm>
#include <utility>

#include "parse/looks_like.h"
#include "stats/walk_list.h"
#include "wire/example.h"
#include "wire/wire.h"

namespace tfr {
namespace {

constexpr char kMalformedExample[] = "a malformed Example";
constexpr char kMoreKinds[] = "others";
constexpr char kOtherMessage[] = "another protobuf message";

struct Counter {
  size_t count = 0;
  void Add(const int64_t*, size_t n) { count += n; }
  void Add(const float*, size_t n) { count += n; }
  void Add(const Bytes&) { ++count; }
};

std::string_view View(const Bytes& key) { return {reinterpret_cast<const char*>(key.data), key.size}; }

}  // namespace

Collector::Collector(uint32_t file, uint64_t first_record, std::vector<std::string> columns,
                     std::shared_ptr<const Hints> hints)
    : file_(file),
      next_record_(first_record),
      first_record_(first_record),
      columns_(std::move(columns)),
      hints_(hints == nullptr ? std::make_shared<const Hints>() : std::move(hints)),
      sizes_(Limits{}, first_record) {}

std::shared_ptr<Collector::Hints> Collector::MakeHints() const {
  auto hints = std::make_shared<Hints>();
  for (const auto& figures : features_) {
    const double numbers = static_cast<double>(figures->numbers()) / static_cast<double>(next_record_ - first_record_);
    hints->features.emplace(std::pair(figures->is_list(), figures->key()), Hints::Known{figures->sketched(), numbers});
  }
  return hints;
}

void Collector::Add(const RecordBatch& batch) {
  const size_t hashes = hashes_.size() + batch.size();
  if (hashes > hashes_.capacity()) hashes_.reserve(std::max(hashes, 2 * hashes_.capacity()));
  for (const Bytes& record : batch.records) {
    hashes_.push_back({HashBytes(record), next_record_});
    sample_.Add(record, {file_, next_record_});
    sizes_.Add(record.size);
    if (dense_ != nullptr) {
      if (dense_->Take(record)) [[likely]] {
        ++examples_;
        ++next_record_;
        if (dense_->full()) FlushDense();
        continue;
      }
      constexpr int64_t kWorth = 4;  // rows taken, for one that is not
      dense_chance_ -= kWorth;
      if (dense_chance_ + static_cast<int64_t>(dense_->rows()) < 0) FlushDense();
    }
    AddRecord(record);
    ++next_record_;
  }
}

void Collector::AddRecord(const Bytes& record) {
  if (record.size == 0) {
    ++examples_;
    ++empty_;
    return;
  }
  ++walked_;
  found_.clear();
  left_out_ = false;
  bool has_lists = false;
  switch (Collect(record, &has_lists)) {
    case Verdict::kExample:
      break;
    case Verdict::kMalformed:
      AddOther(record, true);
      return;
    case Verdict::kOther:
      AddOther(record, false);
      return;
  }
  ++examples_;
  sequences_ += has_lists;
  for (const Found& found : found_) AddFound(found);
  if (dense_ == nullptr && dense_chance_ == 0 && !has_lists && !left_out_) LookForDense();
}

Collector::Verdict Collector::Collect(const Bytes& record, bool* has_lists) {
  const auto collect = [&](uint32_t tag, const Bytes& map) {
    *has_lists |= tag == kFeatureListsTag;
    return CollectMap(map.data, map.data + map.size, tag == kFeatureListsTag);
  };
  if (!ForEachField(record, {kFeaturesTag, kFeatureListsTag}, collect)) return Verdict::kMalformed;
  // Another kind of record that parses by accident has no values. Without values, the form decides.
  bool has_values = left_out_;
  for (Found& found : found_) {
    if (!Check(&found, &has_values)) return Verdict::kMalformed;
  }
  return has_values || HasForm(MessageType::kSequenceExample, record) ? Verdict::kExample : Verdict::kOther;
}

bool Collector::CollectMap(const uint8_t* p, const uint8_t* end, bool lists) {
  Map& map = maps_[lists];
  uint32_t last = 0;
  MapEntry entry;
  while ((p = NextEntry(p, end, EntryOrder::kAny, &entry)) != nullptr && entry.key.data != nullptr) {
    uint32_t feature = map.next[last];
    if (feature == UINT32_MAX || View(entry.key) != features_[feature]->key()) {
      if (!Wanted(entry.key)) {
        left_out_ = true;
        continue;
      }
      feature = FeatureOf(lists, entry.key);
      if (feature == UINT32_MAX) {
        left_out_ = true;
        ++entries_left_out_;
        continue;
      }
      map.next[last] = feature;
    }
    last = feature + 1;
    auto& [in_record, place] = map.found[feature];
    if (in_record == walked_) {
      found_[place].value = entry.value;
      continue;
    }
    in_record = walked_;
    place = static_cast<uint32_t>(found_.size());
    found_.push_back({feature, entry.value, {}, 0});
  }
  return p != nullptr;
}

bool Collector::Wanted(const Bytes& key) const {
  return columns_.empty() || std::find(columns_.begin(), columns_.end(), View(key)) != columns_.end();
}

uint32_t Collector::FeatureOf(bool lists, const Bytes& key) {
  Map& map = maps_[lists];
  const auto known = map.index.find(View(key));
  return known != map.index.end() ? known->second : NewFeature(lists, key);
}

uint32_t Collector::NewFeature(bool lists, const Bytes& key) {
  if (features_.size() >= kMostFeatures || key.size > kMostKeyBytes) return UINT32_MAX;
  const auto feature = static_cast<uint32_t>(features_.size());
  constexpr Limits kSmall = {128, 128};
  const Limits limits = feature < kInFull ? Limits{} : kSmall;
  const auto known = hints_->features.find(std::pair(lists, std::string(View(key))));
  const bool is_known = known != hints_->features.end();
  const Hints::Known hint = is_known ? known->second : Hints::Known{};
  const auto before = static_cast<uint64_t>(hint.numbers * static_cast<double>(first_record_));
  features_.push_back(std::make_unique<FeatureFigures>(std::string(View(key)), lists, limits, before, hint.sketched));
  maps_[lists].index.emplace(features_.back()->key(), feature);
  for (Map& map : maps_) {
    map.next.resize(features_.size() + 1, UINT32_MAX);
    map.found.resize(features_.size());
  }
  return feature;
}

bool Collector::Check(Found* found, bool* has_values) {
  if (features_[found->feature]->is_list()) return CheckList(*found, has_values);
  if (!FindValue(found->value.data, found->value.data + found->value.size, &found->list)) return false;
  Counter counter;
  if (!WalkList(found->list, counter)) return false;
  found->count = counter.count;
  *has_values |= found->list.kind != Kind::kNone;
  return true;
}

bool Collector::CheckList(const Found& found, bool* has_values) {
  return ForEachField(found.value, {kStepTag}, [&](uint32_t, const Bytes& step) {
    FeatureValue list;
    Counter counter;
    if (!FindValue(step.data, step.data + step.size, &list) || !WalkList(list, counter)) return false;
    *has_values |= list.kind != Kind::kNone;
    return true;
  });
}

void Collector::AddFound(const Found& found) {
  FeatureFigures& figures = *features_[found.feature];
  if (!figures.is_list()) {
    if (found.list.kind == Kind::kNone) {
      figures.AddUnset();
      return;
    }
    figures.AddPresent();
    figures.AddFeature(found.list.kind, found.count);
    WalkList(found.list, figures);
    return;
  }
  figures.AddPresent();
  size_t steps = 0;
  ForEachField(found.value, {kStepTag}, [&](uint32_t, const Bytes& step) {
    FeatureValue list;
    Counter counter;
    FindValue(step.data, step.data + step.size, &list);
    struct Both {
      FeatureFigures* figures;
      Counter* counter;
      void Add(const int64_t* values, size_t n) { figures->Add(values, n), counter->Add(values, n); }
      void Add(const float* values, size_t n) { figures->Add(values, n), counter->Add(values, n); }
      void Add(const Bytes& value) { figures->Add(value), counter->Add(value); }
    };
    WalkList(list, Both{&figures, &counter});
    figures.AddFeature(list.kind, counter.count);
    ++steps;
    return true;
  });
  figures.AddSteps(steps);
}

void Collector::AddOther(const Bytes& record, bool malformed) {
  std::string name = LooksLike(record);
  if (name.starts_with(kOtherMessage)) name = kOtherMessage;  // without its fields
  if (malformed && HasForm(MessageType::kSequenceExample, record)) name = kMalformedExample;
  if (others_.size() >= kMostKinds && !others_.contains(name)) name = kMoreKinds;
  const auto [place, is_new] = others_.try_emplace(std::move(name));
  if (is_new) place->second.first = {file_, next_record_};
  ++place->second.records;
}

// A script, if the present record has one number under each key.
void Collector::LookForDense() {
  constexpr int64_t kFirstChance = 256;
  std::vector<DenseRows::Column> columns;
  dense_features_.clear();
  for (const Found& found : found_) {
    const Kind kind = found.list.kind;
    if (found.count != 1 || (kind != Kind::kInt64 && kind != Kind::kFloat)) return;
    columns.push_back({features_[found.feature]->key(), kind});
    dense_features_.push_back(found.feature);
  }
  dense_ = DenseRows::Make(columns);
  dense_chance_ = dense_ == nullptr ? -1 : kFirstChance;
}

// Takes in the rows; when too few records are alike, that was it.
void Collector::FlushDense() {
  const size_t rows = dense_->rows();
  for (size_t i = 0; rows != 0 && i < dense_features_.size(); ++i) {
    FeatureFigures& figures = *features_[dense_features_[i]];
    const Kind kind = dense_->kind(i);
    figures.AddPresent(rows);
    figures.AddFeature(kind, 1, rows);
    if (kind == Kind::kInt64) {
      figures.Add(static_cast<const int64_t*>(dense_->column(i)), rows);
    } else {
      figures.Add(static_cast<const float*>(dense_->column(i)), rows);
    }
  }
  dense_->Clear();
  dense_chance_ += static_cast<int64_t>(rows);
  if (dense_chance_ < 0) dense_.reset();
}

Repeats::Figures Collector::Repeated() {
  FlushHashes();
  return repeats_.Finish();
}

void Collector::FlushHashes() {
  repeats_.Add({file_, std::move(hashes_)});
  hashes_ = {};
}

void Collector::Flush() {
  if (dense_ != nullptr) FlushDense();
  for (const auto& figures : features_) figures->Flush();
}

void Collector::Merge(Collector& other) {
  Flush();
  FlushHashes();
  if (other.dense_ != nullptr) other.FlushDense();
  examples_ += other.examples_;
  sequences_ += other.sequences_;
  empty_ += other.empty_;
  entries_left_out_ += other.entries_left_out_;
  for (const auto& [name, theirs] : other.others_) {
    const bool is_known = others_.contains(name);
    Other& mine = others_[is_known || others_.size() < kMostKinds ? name : kMoreKinds];
    if (mine.records == 0) mine.first = theirs.first;
    mine.records += theirs.records;
  }
  for (const auto& theirs : other.features_) {
    const std::string& key = theirs->key();
    const uint32_t feature = FeatureOf(theirs->is_list(), {reinterpret_cast<const uint8_t*>(key.data()), key.size()});
    if (feature == UINT32_MAX) {
      entries_left_out_ += theirs->present() + theirs->unset();
    } else {
      features_[feature]->Merge(*theirs);
    }
  }
  sizes_.Merge(other.sizes_);
  sample_.Merge(other.sample_);
  other.FlushHashes();
  repeats_.Merge(other.repeats_);
}

}  // namespace tfr
