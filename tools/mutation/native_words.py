"""Mistakes in what csrc/parse says: the words of errors, and what records look like."""

from tools.mutation.native import Mutant

FAULTS = "examples/test_fault_words"
LOOKS = "examples/test_looks_like"


def fault(old, new, why):
    return Mutant("parse/faults.cc", old, new, why, FAULTS)


def looks(old, new, why):
    return Mutant("parse/looks_like.cc", old, new, why, LOOKS)


MUTANTS = [
    fault('(i || *first ? "," : "")', '(i ? "," : "")', "the comma after a shape's ?"),
    fault('type == ElementType::kFloat32 ? "float" : TypeName(type)', "TypeName(type)", "the name of float32"),
    fault('kind == Kind::kBytes ? "string" : KindName(kind)', "KindName(kind)", "the name of bytes"),
    fault("byte >= 0x20 && byte < 0x7f", "byte > 0x20 && byte < 0x7f", "a blank in a record"),
    fault("byte >= 0x20 && byte < 0x7f", "byte >= 0x20 && byte <= 0x7f", "DEL in a record"),
    fault("kDigits[byte >> 4] + kDigits[byte & 15]", "kDigits[byte & 15] + kDigits[byte >> 4]", "the order of digits"),
    fault('(record.size > kShown ? "\'..."', '(record.size >= kShown ? "\'..."', "a record that is shown whole"),
    fault("size_t kShown = 32;", "size_t kShown = 31;", "how much of a record is shown"),
    fault(
        "return message.substr(0, lead.size()) == lead ?", "return true ?", "an error that does not start with a key"
    ),
    fault('rest.find(" (feature \'");', 'rest.rfind(" (feature \'");', "a key that holds our own words"),
    fault(
        "theirs.find(kCount); at != std::string_view::npos",
        "theirs.find(kCount); false",
        "a count in a SequenceExample",
    ),
    fault(
        "theirs.substr(0, kGot.size()) == kGot && but != std::string_view::npos",
        "false",
        "the order of types in a SequenceExample",
    ),
    fault("std::string(theirs.substr(at + kCount.size()))", "std::string(theirs.substr(at))", "the count itself"),
    fault("theirs.substr(but + kBut.size())", "theirs.substr(but)", "the type that is expected"),
    fault("but - kGot.size())", "but)", "the type that is there"),
    fault("return text + std::string(tail);", "return text;", "our own words in a SequenceExample"),
    fault("(spec.layout == Layout::kList ?", "(spec.layout != Layout::kList ?", "the order of types by the layout"),
    fault('ShapeText(spec.shape, "?")', "ShapeText(spec.shape)", "the open dimension of steps"),
    fault(
        '"expected a multiple of " + std::to_string(spec.elements)',
        '"expected a multiple of " + count',
        "how many values a step has",
    ),
    fault('", Index: " + std::to_string(row) + ', '", Index: " + std::to_string(row + 1) + ', "the row of a batch"),
    fault(
        "if (rest.empty()) return Reworded(status, status.detail().message + at);",
        "if (rest.empty()) return status;",
        "the step of an error of our own",
    ),
    fault('StartsWith(rest, "Data types") ? "Feature list: "', 'false ? "Feature list: "', "a step of another type"),
    fault('StartsWith(rest, "Data types") ? "Feature list: "', 'true ? "Feature list: "', "a step of another size"),
    fault(
        'if (!StartsWith(rest, "Number of")) return status;',
        "if (rest.empty()) return status;",
        "a lone Example's type",
    ),
    fault(
        'if (!StartsWith(rest, "Number of")) return status;', "if (!rest.empty()) return status;", "a lone one's count"
    ),
    fault(
        '".  " + InSequence(rest));\n}\n\nStatus InSingle',
        '".  " + std::string(rest));\n}\n\nStatus InSingle',
        "TensorFlow's words in a context",
    ),
    fault(
        'return OfKey(spec, "Can\'t parse serialized Example.", "can\'t',
        'return OfKey(spec, "", "can\'t',
        "what can't be parsed",
    ),
    Mutant(
        "parse/sequence_parser.cc",
        "&value)) return InStep(MalformedFeature(spec), writer.steps_put());",
        "&value)) return MalformedFeature(spec);",
        "the number of a malformed step",
        FAULTS,
    ),
    looks(
        "p = ReadLength(p, end, &field.content.size);\n      if (p == nullptr) return false;",
        "p = ReadLength(p, end, &field.content.size);\n      if (p == nullptr) return true;",
        "a field that is cut",
    ),
    looks(
        "p = SkipField(p, end, tag);\n      if (p == nullptr) return false;",
        "p = SkipField(p, end, tag);\n      if (p == nullptr) return true;",
        "a number that is cut",
    ),
    looks("field.type == kWireDelimited && field.number >=", "field.number >=", "a feature that is a number"),
    looks(
        "field.number <= static_cast<uint32_t>(Kind::kInt64);",
        "field.number < static_cast<uint32_t>(Kind::kInt64);",
        "a list of int64",
    ),
    looks(
        "field.number <= static_cast<uint32_t>(Kind::kInt64);",
        "field.number <= static_cast<uint32_t>(Kind::kInt64) + 1;",
        "a kind that there is not",
    ),
    looks(
        "return field.Is(1, kWireDelimited) && IsFeature(field.content); });",
        "return IsFeature(field.content); });",
        "the number of a step",
    ),
    looks("&& parts.size() == 2 &&", "&& parts.size() >= 1 &&", "an entry with more than name and value"),
    looks(
        "part.Is(2, kWireDelimited) && is_value(part.content); }) == 1;",
        "part.Is(2, kWireDelimited) && is_value(part.content); }) < 2;",
        "an entry without a value",
    ),
    looks("kLastField = 10;", "kLastField = 9;", "an event's source_metadata"),
    looks("kLastField = 10;", "kLastField = 11;", "what no event has"),
    looks(
        "return Count(fields, 1, kWireFixed64) == 1 &&", "return Count(fields, 1, kWireFixed64) >= 1 &&", "two times"
    ),
    looks("field.number > 2 && field.number <= kLastField", "field.number <= kLastField", "a step that is no number"),
    looks(
        "field.number <= 2 && IsExample(field.content);",
        "field.number <= 1 && IsExample(field.content);",
        "a context of Examples",
    ),
    looks(
        "field.number <= 2 && IsExample(field.content);", "IsExample(field.content);", "Examples elsewhere in a message"
    ),
    looks("&& Count(fields, 2, kWireDelimited) > 0 &&", "&&", "tracks of a scenario"),
    looks(
        "Count(fields, kScenarioId, kWireDelimited) == 1;",
        "Count(fields, kScenarioId, kWireDelimited) >= 1;",
        "two names of a scenario",
    ),
    looks("Count(parts, 2, kWireVarint) == 1 &&", "Count(parts, 2, kWireVarint) <= 1 &&", "the count of statistics"),
    looks("Count(parts, 3, kWireDelimited) > 0;", "true;", "the features of statistics"),
    looks("return field.Is(3, kWireVarint) || (field.Is(2,", "return (field.Is(2,", "a shape of unknown rank"),
    looks("return part.Is(1, kWireVarint) || part.Is(2, kWireDelimited);", "return true;", "what a dimension has"),
    looks("return part.Is(1, kWireVarint) || part.Is(2,", "return part.Is(1, kWireVarint) && part.Is(2,", "its name"),
    looks("kLastValues = 18;", "kLastValues = 17;", "values of uint64"),
    looks("kLastValues = 18;", "kLastValues = 19;", "what no tensor has"),
    looks(
        "return Count(fields, 1, kWireVarint) == 1 && Count(fields, 2, kWireDelimited) == 1 &&",
        "return Count(fields, 1, kWireVarint) >= 1 && Count(fields, 2, kWireDelimited) == 1 &&",
        "two types of a tensor",
    ),
    looks(
        "return Count(fields, 1, kWireVarint) == 1 && Count(fields, 2, kWireDelimited) == 1 &&",
        "return Count(fields, 1, kWireVarint) == 1 && Count(fields, 2, kWireDelimited) >= 1 &&",
        "two shapes of a tensor",
    ),
    looks(
        "return field.Is(1, kWireVarint) || field.Is(3, kWireVarint) ||",
        "return field.Is(1, kWireVarint) ||",
        "a tensor's version",
    ),
    looks("(field.Is(2, kWireDelimited) && IsTensorShape(field.content));", "true;", "what a shape holds"),
    looks("field.content.size > kEmptyExample", "field.content.size >= kEmptyExample", "an empty Example inside"),
    looks("ReadFields(field.content, &parts) && Count(parts, HoldsExample) > 0);", "false);", "lists of lists"),
    looks("if (shown == kShown)", "if (shown + 1 == kShown)", "the eighth field"),
    looks('kinds.size() == 1 ? "field"', 'kinds.size() <= 2 ? "field"', "one field or more"),
    looks('case kWireFixed32:\n      return "fixed32";', 'case kWireFixed32:\n      return "fixed64";', "a word"),
    looks("HasAt(record, 0, magic.start) && HasAt(record, 8, magic.at8)", "HasAt(record, 0, magic.start)", "RIFF"),
    looks("record.size >= place + what.size() &&", "record.size > place + what.size() &&", "eight bytes"),
    looks("record.size < kHeader ||", "record.size <= kHeader ||", "the shortest BMP"),
    looks("  return size == record.size;", "  return size <= record.size + 1;", "the size of a BMP"),
    looks("lead == 0x7f) return false;", "false) return false;", "DEL in text"),
    looks("lead != '\\t' && lead !=", "lead !=", "a tab in text"),
    looks("if (lead < 0xc2 || lead > 0xf4)", "if (lead < 0xc2)", "bytes that begin nothing"),
    looks("if (lead < 0xc2 || lead > 0xf4)", "if (lead < 0xc1 || lead > 0xf4)", "one byte written as two"),
    looks("lead == 0xe0 ? 0xa0 :", "", "two bytes written as three"),
    looks("lead == 0xf0 ? 0x90 : 0x80;", "0x80;", "three bytes written as four"),
    looks("lead == 0xed ? 0x9f :", "", "a surrogate"),
    looks("lead == 0xf4 ? 0x8f : 0xbf;", "0xbf;", "beyond U+10FFFF"),
    looks("      low = 0x80;\n", "", "the third byte after a second that is bounded"),
    looks("      high = 0xbf;\n", "", "the third byte after a second that is bounded"),
    looks("lead >= 0xf0 ? 3 : lead >= 0xe0", "lead > 0xf0 ? 3 : lead >= 0xe0", "how many bytes follow"),
    looks("*first == '{' || *first == '['", "*first == '{'", "a JSON list"),
    looks("return c > ' '; }", "return c >= ' '; }", "blanks before JSON"),
    looks('if (record.size == 0) return "an empty record";', "", "an empty record"),
]
