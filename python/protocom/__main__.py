"""`python -m protocom` is the command line: the program inside a wheel, or else the one on the PATH."""
import os
import shutil
import sys

program = os.path.join(os.path.dirname(__file__), "bin", "protocom")
if not os.path.exists(program):
    program = shutil.which("protocom")
if program is None:
    sys.exit("protocom: the command line is not installed: it is neither in this package nor on the PATH")
os.execv(program, [program, *sys.argv[1:]])
