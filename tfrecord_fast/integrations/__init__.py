"""Other projects' own idioms: one module per project, which imports that project. Import the module you want."""
