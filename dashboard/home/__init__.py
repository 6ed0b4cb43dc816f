"""Home: the two answers, and where to go on."""
