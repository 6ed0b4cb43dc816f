"""The data behind a page: warnings, coverage, covariates and sources."""
