"""Count tensors: entries, attributes, groups and observation processes."""
