// Guesses the format of a record that is not an Example, for error messages.

#pragma once

#include <string>

#include "base/records.h"
#include "wire/example.h"

namespace tfr {

// True if the record has the form of the message down to the lists of its features, and no field besides. Looks at no
// values. A record without any bytes is an Example without features.
bool HasForm(MessageType type, const Bytes& record);

// A noun phrase: "a TensorBoard event (tensorflow.Event)", "text". Never empty; what is not known is described.
std::string LooksLike(const Bytes& record);

}  // namespace tfr
