"""Under-counted tensor completion: true counts λ and detection probabilities p from counts y.

``fit`` estimates, ``simulate`` makes data with known truth, ``datasets.load`` loads real and
simulated data, ``metrics`` measures errors, and ``effects`` shows how attributes change p.
``METHODS`` are those that the paper compares, ``compare`` scores them on held-out counts,
``search`` finds good settings, ``tables`` reads a table of one's own, ``paper.tables`` holds the
paper's tables. ``checking`` shows how well a fit describes held-out counts;
``estimates`` lists what a fit says of every entry, and a ``Recipe`` holds all
that decided it.
"""

import lazy_loader

# Names are imported when they are first used, each from where `__init__.pyi` says, so that
# importing the package takes no torch and no numba.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
