"""Other projects' own types over this package: one module per project, which imports that project at its top."""
