"""The benchmark harness: `python -m benchmarks --help`. What each file does and how to add a rival: README.md
here."""
