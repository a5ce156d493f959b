"""Several datasets as one, and one as several.

| module | subject |
| --- | --- |
| `joining` | `zip`, `concatenate`, `flat_map`, `interleave`, `window` |
| `choosing` | `choose_from_datasets`, `sample_from_datasets`, `rejection_resample` |
| `groups` | `unique`, `group_by_window` |
"""
