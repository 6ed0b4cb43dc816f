"""What a fit found: estimates, posterior draws, intervals and the scale of p."""
