"""What every room may use: optional packages, lazy names, threads, seeds, the version."""
