"""Fits and comparisons beside the pages, without Streamlit."""
