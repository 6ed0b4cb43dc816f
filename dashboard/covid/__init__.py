"""The page "COVID-19"."""
