"""Running: contenders' processes, rounds and times; the result is tables."""
