// The errors of records that do not fit their features, in our words. For scripts of TensorFlow, its words come first:
// scripts and tests look for them. The code is out of line and cold, so that errors cost the usual path no registers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/records.h"
#include "base/status.h"
#include "parse/map_entry.h"
#include "parse/schema.h"
#include "wire/example.h"

#define TFR_COLD __attribute__((cold, noinline))

namespace tfr {

// Sets whether TensorFlow's words come first in errors of this process; returns the earlier setting.
bool SetTensorFlowWords(bool on);

// "int64 values of shape [2]".
std::string Expectation(const FeatureSpec& spec);

// "feature 'a': …", for what TensorFlow has no words for.
TFR_COLD Status Fault(const FeatureSpec& spec, std::string what);

TFR_COLD Status WrongCount(const FeatureSpec& spec, size_t got);
TFR_COLD Status NotAMultiple(const FeatureSpec& spec, size_t got);
TFR_COLD Status WrongKind(const FeatureSpec& spec, Kind got);
TFR_COLD Status Misfit(const FeatureSpec& spec, int64_t value);
TFR_COLD Status WrongByteCount(const FeatureSpec& spec, size_t got);
// `entries`: what the record has, if it is known.
TFR_COLD Status MissingFeature(const FeatureSpec& spec, const std::vector<MapEntry>& entries = {});
TFR_COLD Status MissingList(const FeatureSpec& spec);
TFR_COLD Status MalformedFeature(const FeatureSpec& spec);
TFR_COLD Status MalformedExample(const Bytes& record);
TFR_COLD Status MalformedSequence(const Bytes& record);
TFR_COLD Status OtherKey(const Schema& schema, const Bytes& key);

// An error of WrongCount and the like, as TensorFlow words it for a row of a batch, a context, a step of a feature
// list, a single Example. Other errors come back as they are, with the step added.
TFR_COLD Status InRow(Status status, size_t row);
TFR_COLD Status InContext(Status status);
TFR_COLD Status InStep(Status status, size_t step);
TFR_COLD Status InSingle(Status status);

}  // namespace tfr
