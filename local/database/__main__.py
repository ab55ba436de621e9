"""`python -m local.database`: for people."""

import sys

from local.database import main

sys.exit(main())
