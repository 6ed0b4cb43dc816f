"""A reader's own table."""
