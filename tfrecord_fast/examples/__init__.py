"""tf.train.Example and SequenceExample: what to parse, parsing, encoding, inference, messages.

| module or room | for |
| --- | --- |
| `features` | what to parse: FixedLenFeature and the others |
| `infer` | features inferred from records |
| `record_kinds` | what records are: Examples, TensorBoard events, text, images |
| `parsing/` | records to columns |
| `encoding/` | columns to records |
| `messages/` | Example and TensorProto as protobuf messages, and their wire format in Python |

Imports run up this table from its end, and to `features` from everywhere.
"""
