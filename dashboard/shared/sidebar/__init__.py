"""Controls of the sidebar, and the settings that they make."""
