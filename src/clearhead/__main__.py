"""`python -m clearhead` is `clearhead`, also where the latter is not on the PATH."""

from clearhead.cli import main

raise SystemExit(main())
