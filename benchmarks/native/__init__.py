"""Native code: `build.py` makes the floor's loops (floor.cc), `programs.py` the micro-benchmarks, one program per room
of the core (`python -m benchmarks.native`)."""
