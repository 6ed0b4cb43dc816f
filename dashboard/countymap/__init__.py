"""The county map: numbers packed, and a component of our own that draws them."""
