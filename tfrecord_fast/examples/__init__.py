"""tf.train.Example and SequenceExample: what to parse, parsing, encoding, inference, messages.

| module | what |
| --- | --- |
| `features` | what to parse: FixedLenFeature and the others |
| `groups` | features that are to be one column |
| `raw_columns`, `results`, `partitions`, `plans` | a dict of features, compiled to what the core parses |
| `parsing` | records to columns |
| `infer` | records to features |
| `column`, `columns`, `arrow_columns`, `feature_lists`, `encode` | columns to records |
| `messages`, `build`, `tensors` | protobuf's classes of Example and TensorProto, and short ways to make them |
"""
