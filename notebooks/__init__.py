"""The tutorial as notebooks: the sources are text, and `python -m notebooks` runs them into .ipynb files."""
