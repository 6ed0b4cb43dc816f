"""Numbers, dates and words on pages."""
