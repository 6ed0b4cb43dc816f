"""Files: saved fits and counts, recipes and citations."""
