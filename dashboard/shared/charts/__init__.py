"""How figures look, and the tables that they draw."""
