// Units that a thread has claimed and makes before it hands them in together.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "pipeline/lane.h"

namespace tfr {

struct Claimed {
  std::shared_ptr<Lane> lane;
  size_t unit;
  size_t estimate;  // bytes
  Produced produced;
  bool made = false;
};

inline void MakeInOrder(std::vector<Claimed>* claimed, Caller caller) {
  for (Claimed& one : *claimed) {
    one.made = one.lane->Produce(one.unit, caller, &one.produced);
    caller = Caller::kWorker;  // the others' lanes are not waited for: they are made as a worker makes them
  }
}

}  // namespace tfr
