"""The Plan page: how much narrower intervals would be with more counts."""
