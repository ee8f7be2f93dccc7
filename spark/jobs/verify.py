"""Entry point of the verification: ``spark-submit … verify.py '<order as JSON>'``."""

import sys

from spark.job import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
