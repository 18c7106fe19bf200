#!python
"""Becomes the program of this name in the package: the same process, so its exit status and signals are the program's."""
import importlib.util
import os
import sys

# Finding the package imports nothing: it begins with NumPy, which takes longer than all of this.
folder = importlib.util.find_spec("protocom").submodule_search_locations[0]
program = os.path.join(folder, "bin", os.path.basename(os.path.realpath(__file__)))
os.execv(program, [program, *sys.argv[1:]])
