"""Mistakes in figures of records."""

from tests.mutation.native import Mutant

FIGURES = "examples/test_statistics examples/test_statistics_parts"


def _of(file, *entries):
    return [Mutant(f"stats/{file}", old, new, why, FIGURES) for old, new, why in entries]


MUTANTS = [
    *_of(
        "numbers.cc",
        ("if (sketch_ != nullptr) {\n    PutWeighted(bits, count);\n    return;\n  }\n", "", "lengths in a sketch"),
        ("  made.nans = nans_;\n", "", "NaN are counted"),
        ("value == 0 ? 0.0f : value", "value", "-0.0 is 0.0"),
        ("bits ^ kSignBit", "bits", "the order of negative integers"),
        ("static_cast<uint32_t>(~word) : word | uint32_t{1} << 31", "word : word", "the order of negative floats"),
        ("(word >> 31) != 0 ? word & 0x7fffffff :", "(word >> 31) == 0 ? word & 0x7fffffff :", "bits of ordered keys"),
        ("if (any < kDirect) {", "if (any <= kDirect) {", "the first value that has no position"),
        ("        ++i;\n        break;", "        break;", "the value that begins the sketch is counted once"),
        ("sketch.zeros += figures.zeros;", "", "zeros of a block"),
        ("sketch.moments.Merge(figures.moments);", "", "moments of a block"),
        ("sketch.distinct.AddAll(hashes, n);", "", "different values of a block"),
        ("num_hits += counts_.MayKeep(hashes[i]);", "num_hits += 0;", "frequent values of a block"),
        ("  if (offset_ + sketch.seen < kAll) {", "  if (false) {", "the first values all make quantiles"),
        (
            "for (; i < n; ++i) sketch.quantiles.Add(OrderedKey(type_, BitsOfValue(values[i])));\n  sketch.seen",
            "sketch.seen",
            "what a stride leaves over",
        ),
        ("sketch.quantiles.AddWeighted(OrderedKey(type_, bits), count);", "", "quantiles of what was counted"),
        ("if (value == 0) sketch.zeros += count;", "", "zeros of what was counted"),
        (
            "sketch.infinities[value > 0] += count;\n      continue;",
            "sketch.infinities[value < 0] += count;\n      continue;",
            "which infinity",
        ),
        (
            "if (direct_[value] != 0) counts_.Add(value, HashNumber(value), direct_[value]);",
            "",
            "frequent small integers in a sketch",
        ),
        ("  nans_ += other.nans_;\n", "", "NaN of merged parts"),
        ("  count_ += other.count_;\n", "", "values of merged parts"),
        ("  mine.distinct.Merge(theirs.distinct);\n", "", "different values of merged parts"),
        ("  mine.quantiles.Merge(theirs.quantiles);\n", "", "quantiles of merged parts"),
        ("  mine.moments.Merge(theirs.moments);\n", "", "moments of merged parts"),
        ("  mine.zeros += theirs.zeros;\n", "", "zeros of merged parts"),
        ("mine.infinities[i] += theirs.infinities[i];", ";", "infinities of merged parts"),
        ("  counts_.MergeHeavy(other.counts_);\n}", "}", "frequent values of merged parts"),
        (
            "    for (const Counts::Entry& entry : entries) AddExact(entry.key, entry.count);",
            "",
            "exact parts are added",
        ),
        (
            "  if (sketch_ == nullptr) BeginSketch();\n  Sketch& mine",
            "  if (sketch_ == nullptr) sketch_ = std::make_unique<Sketch>(limits_, 1);\n  Sketch& mine",
            "what was counted before a sketch is merged",
        ),
        (
            "(value > 0 ? made.positive_infinities : made.negative_infinities) += count;",
            "(value < 0 ? made.positive_infinities : made.negative_infinities) += count;",
            "which exact infinity",
        ),
        (
            "made.least_int = static_cast<int64_t>(entries.front().key);",
            "made.least_int = static_cast<int64_t>(entries.back().key);",
            "the least of exact integers",
        ),
        (
            "made.moments.squares += off * off * static_cast<long double>(count);",
            "made.moments.squares += off * off;",
            "the weight of squares",
        ),
    ),
    *_of(
        "moments.cc",
        ("const Moments& other) {\n  if (other.count == 0) return;", "const Moments& other) {", "merging nothing"),
        ("apart * apart * (one * two / both)", "apart * apart * (one / both)", "squares between parts"),
        ("mean += apart * (two / both);", "mean += apart * (one / both);", "the mean of two parts"),
        ("for (; i < n; ++i) lanes[i % kLanes] += values[i];", "", "what lanes leave over in sums"),
        ("    low[0] = std::min(low[0], values[i]);\n", "", "what lanes leave over in the least"),
        ("value > high[lane] ? value : high[lane]", "value < high[lane] ? value : high[lane]", "the most"),
        ("none += values[j] == 0;", "none += values[j] != 0;", "zeros"),
    ),
    *_of(
        "counts.cc",
        (
            "    error_ += off;\n  }\n  Refill(entries);\n}\n\nbool",
            "  }\n  Refill(entries);\n}\n\nbool",
            "the error at first",
        ),
        ("  error_ += off;\n  std::erase_if", "  std::erase_if", "the error of a purge"),
        ("  error_ += other.error_;\n", "", "the error of merged parts"),
        ("      slots_[at].count += count;\n      return true;", "      return true;", "frequent values are counted"),
        (
            "filter_[hash >> 32 & (kFilterWords - 1)] |= uint64_t{1} << (hash >> 58);\n  if (++used_",
            "if (++used_",
            "the filter knows what is inserted",
        ),
        ("if (++used_ >= kHeavy) Purge();", "if (++used_ > 2 * kHeavy) Purge();", "a table that gets full"),
    ),
    *_of(
        "distinct.cc",
        (
            "registers_[i] = std::max(registers_[i], other.registers_[i]);",
            "registers_[i] = other.registers_[i];",
            "registers of merged parts",
        ),
        ("z += kCount * Sigma(counts[0] / kCount);", "", "few different values"),
    ),
    *_of(
        "distinct.h",
        ("(64 - kIndexBits)) + 1);", "(64 - kIndexBits)));", "ranks"),
        ("best = rank > best ? rank : best;", "best = rank;", "the highest rank stays"),
    ),
    *_of(
        "quantiles.cc",
        ("  if (is_sorted) return;", "  if (differ != 0) return;", "keys that are sorted already"),
        ("  if (from != keys) std::memcpy(keys, from, n * sizeof *keys);\n", "", "keys that end in the scratch"),
        ("++level, count >>= 1", "++level, count >>= 2", "weights in powers of two"),
        (
            "for (const uint64_t key : other.levels_[level]) Put(level, key);",
            "for (const uint64_t key : other.levels_[level]) Put(0, key);",
            "weights of merged keys",
        ),
    ),
    *_of(
        "texts.cc",
        (
            "      Keep(key, value);\n      if (counts_.size() > limits_.exact) BeginSketch();\n",
            "      Keep(key, value);\n",
            "strings without a bound",
        ),
        ("  distinct_[0].Add(hash);\n  if (!", "  if (!", "different strings"),
        ("seen_ % kSampled == 0", "false", "strings that become frequent later"),
        ("  distinct_[0].Merge(other.distinct_[0]);\n", "", "different strings of merged parts"),
        (
            "if (found != other.starts_.end()) starts_.try_emplace(entry.key, found->second);",
            "",
            "the strings behind merged counts",
        ),
        ("std::min(value.size, kKept)", "value.size", "long strings are not kept whole"),
        (
            "for (const Counts::Entry& entry : counts_.Entries()) distinct_[0].Add(HashNumber(entry.key));",
            "",
            "different strings before the sketch",
        ),
        ("  sizes_.Merge(other.sizes_);\n", "", "sizes of merged strings"),
    ),
    *_of(
        "hash.cc",
        ("state = Mixed(rest, kSecrets[2], state);", "", "the last bytes"),
        ("left >= kLane; p += kLane", "left > 2 * kLane; p += kLane", "pieces of the middle"),
        ("kSecrets[i + 1], lanes[i]);", "kSecrets[i + 1], 0);", "all stripes of a long string"),
    ),
    *_of(
        "repeats.cc",
        ("if (slot.count != UINT32_MAX) ++slot.count;", "", "copies are counted"),
        ("hash >> (64 - halvings_) != 0) return;", "false) return;", "only those below the bound"),
        ("if (++used_ > kMost) Halve();", "++used_;", "hashes without a bound"),
        (
            "slot.hash >> (64 - halvings_) != 0) continue;\n    Find(slot.hash) = slot;",
            "false) continue;\n    Find(slot.hash) = slot;",
            "what a halving drops",
        ),
        ("  while (halvings_ < other.halvings_) Halve();\n", "", "bounds of merged parts"),
        ("+ slot.count - 1;", "+ slot.count;", "copies of merged parts"),
        ("made.repeated += slot.count > 1;", "made.repeated += slot.count > 2;", "two copies"),
        ("made.copies += slot.count - 1;", "made.copies += slot.count;", "the first one is no copy"),
        (
            "pairs_.size() < kShown) pairs_.push_back({slot.place(), place});",
            "true) pairs_.push_back({slot.place(), place});",
            "pairs without a bound",
        ),
        ("{slot.place(), place}", "{place, slot.place()}", "the first one comes first"),
    ),
    *_of(
        "sample.cc",
        ("if (record.size > kMostBytes) {\n    ++passed_over_;\n    return;\n  }\n", "", "large records"),
        ("drawn_.size() > kMost || bytes_ > kMostBytesInAll", "drawn_.size() > kMost", "the bytes of a sample"),
        ("  bound_ = std::min(bound_, other.bound_);\n", "", "the bound of merged samples"),
        ("a.place.file != b.place.file ? a.place.file < b.place.file : ", "", "the order of a sample"),
        ("  passed_over_ += other.passed_over_;\n", "", "large records of merged parts"),
    ),
    *_of(
        "dense_rows.cc",
        ("at != script_.size()", "false", "a record that lacks the last features"),
    ),
    *_of(
        "feature.h",
        ("if (length != last_) {\n      Flush();", "if (length != last_) {", "lengths that differ"),
        ("    other.Flush();\n    numbers_.Merge", "    numbers_.Merge", "the last lengths of merged parts"),
    ),
    *_of(
        "feature.cc",
        (
            "if (sketched_.ints) ints_->BeginSketch();",
            "if (!sketched_.ints) ints_->BeginSketch();",
            "few integers are all counted",
        ),
        ("if (!kept_floats_.empty()) floats_->Add(kept_floats_.data(), kept_floats_.size());", "", "less than a block"),
        ("  present_ += other.present_;\n", "", "presence in merged parts"),
        ("  unset_ += other.unset_;\n", "", "Features without a kind in merged parts"),
        ("kinds_[kind] += other.kinds_[kind];", ";", "kinds of merged parts"),
        ("  steps_.Merge(other.steps_);\n", "", "steps of merged parts"),
    ),
    *_of(
        "collector.cc",
        ("    ++empty_;\n    return;", "    return;", "records without bytes"),
        ("found_[place].value = entry.value;\n      continue;", "continue;", "the last one of a key counts"),
        ("        ++entries_left_out_;\n", "", "keys that are left out are counted"),
        (
            "features_.size() >= kMostFeatures || key.size > kMostKeyBytes",
            "features_.size() >= kMostFeatures",
            "keys of any size",
        ),
        (
            "features_.size() >= kMostFeatures || key.size > kMostKeyBytes",
            "key.size > kMostKeyBytes",
            "features without a bound",
        ),
        (
            "if (!Check(&found, &has_values)) return Verdict::kMalformed;",
            "Check(&found, &has_values);",
            "malformed values",
        ),
        ("has_values || HasForm(MessageType::kSequenceExample, record)", "true", "records of another kind"),
        ("      figures.AddUnset();\n      return;", "      return;", "Features without a kind"),
        ("if (is_new) place->second.first = {file_, next_record_};", "", "where the first of another kind is"),
        ("others_.size() >= kMostKinds && ", "", "more kinds than are kept"),
        ("columns_.empty() || ", "", "all columns"),
        (
            "repeats_.empty() && other.repeats_.empty() && other.file_ == file_ &&",
            "repeats_.empty() && other.repeats_.empty() &&",
            "places in several files",
        ),
        ("  repeats_.Merge(other.repeats_);\n", "", "copies in merged parts"),
        ("if (mine.records == 0) mine.first = theirs.first;", "", "the first of a kind in merged parts"),
        ("entries_left_out_ += theirs->present() + theirs->unset();", "", "features that find no room"),
        ("  if (other.dense_ != nullptr) other.FlushDense();\n", "", "rows that were kept back"),
        ("  empty_ += other.empty_;\n", "", "records without bytes in merged parts"),
        ("  sequences_ += other.sequences_;\n", "", "SequenceExamples in merged parts"),
    ),
    *_of(
        "walk_list.h",
        ("size % sizeof(float) != 0", "false", "a float that is cut"),
        ("static_cast<size_t>(list.end - p) < sizeof value", "false", "an unpacked float that is cut"),
        ("if (!list.lone && list.kind != Kind::kNone) {", "if (false) {", "a list in pieces"),
    ),
]
