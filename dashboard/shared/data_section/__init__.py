"""The data behind a page: size, warnings and sources."""
