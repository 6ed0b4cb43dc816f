"""The server around the pages: who may come in, whether it is ready, what it measures."""
