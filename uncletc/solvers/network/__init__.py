"""The network stage: whether held-out counts ask for a network, and its training."""
