"""Building blocks of contenders; `benchmarks.contenders` exports them."""
