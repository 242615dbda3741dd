"""What people run: each module is one command, called by the script of the same name in scripts/.

Commands that read or write what the functions do use the functions' own code, so lambdas/ is on the path here.
"""

import sys
from pathlib import Path

_LAMBDAS = str(Path(__file__).resolve().parent.parent / "lambdas")
if _LAMBDAS not in sys.path:
    sys.path.append(_LAMBDAS)
