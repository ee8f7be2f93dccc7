"""Entry point of the load: ``spark-submit … load.py '<order as JSON>'``."""

import sys

from spark.job import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
