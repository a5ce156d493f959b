"""What contenders are made with; `benchmarks.contenders` names it all."""
