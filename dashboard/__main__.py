"""``python -m dashboard``."""

import os

if __name__ == "__main__":
    # Sessions share the processors: threads that wait for each other cost more than they bring.
    # torch reads it when it is imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from dashboard.serve import main

    main()
