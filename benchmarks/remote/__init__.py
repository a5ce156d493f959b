"""Reading from a store of objects: the package, bare requests, and others, behind a latency and a rate."""
