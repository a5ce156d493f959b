"""Other projects, one module each: who imports a module here wants its project."""
