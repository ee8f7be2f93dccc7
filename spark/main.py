"""The entry point of every job: ``spark-submit … main.py '<order as JSON>'``; the order says which job it is."""

import sys

from spark.job import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
