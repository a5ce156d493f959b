"""Elements computed on threads.

| module | subject |
| --- | --- |
| `prefetch` | one thread that fills a buffer |
| `mapped` | several threads that call a function |
| `trials` | measurements that decide whether threads are worth it |
"""
