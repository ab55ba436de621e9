"""SAM's transform as a filter, run by SAM's own interpreter: in come a template and parameter sets, out come the transformed templates (JSON)."""

import json
import sys
from copy import deepcopy

from boto3.session import Session
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def main() -> None:
    given = json.load(sys.stdin)
    translator = Translator({}, Parser(), boto_session=Session(region_name=given["region"]))
    translated = {name: translator.translate(deepcopy(given["template"]), values) for name, values in given["parameter_sets"].items()}
    json.dump(translated, sys.stdout)


if __name__ == "__main__":
    main()
