"""The pages of uncletc: a Streamlit application over the public names of the library."""
