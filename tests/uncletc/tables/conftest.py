import numpy as np
import pytest

from tests.uncletc.tables.made import RNG


@pytest.fixture(autouse=True)
def same_draws():
    """The same numbers in each test, whichever ran before it."""
    RNG.bit_generator.state = np.random.default_rng(8).bit_generator.state
