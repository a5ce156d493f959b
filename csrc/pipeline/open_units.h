// Opens the file of a lane and finds out how its units are made.

#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "io/remote_file.h"
#include "pipeline/unit_maker.h"

namespace tfr {

// `size` is that of a regular file, as File::FindRegular returns it; -1 for anything else, whose opening may block or
// need the consumer's thread. `lane` must outlive the maker. *maker stays null where the status is not OK.
Status OpenUnits(const LaneFile& lane, int64_t size, std::unique_ptr<UnitMaker>* maker);
// The same for an object.
Status OpenObject(const LaneFile& lane, const std::shared_ptr<RemoteFile>& object, std::unique_ptr<UnitMaker>* maker);

}  // namespace tfr
