"""Example, SequenceExample and TensorProto as protobuf messages.

| module | for |
| --- | --- |
| `protobuf` | the message classes |
| `build` | Examples from dicts of values |
| `tensors` | arrays as TensorProtos; Examples from JSON |
| `wire` | the wire format in Python, without protobuf |
"""
