"""Running: contenders' processes, rounds and times; gives tables."""
