"""``python -m dashboard``."""

from dashboard.serve import main

if __name__ == "__main__":
    main()
