"""What every room may use: optional packages, lazy names, threads, forks, seeds, the version."""
