"""Entry point of maintenance: ``spark-submit … maintain.py '<order as JSON>'``."""

import sys

from spark.job import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
