# SPDX-License-Identifier: MIT
"""Answers against the schemas that are shipped."""
import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).parents[2] / 'docs/schema'


def check_answer(told, name, schema=None):
    """As docs/schema/NAME.json says, whose `schema` is flyball.NAME/1 unless said."""
    assert told['schema'] == (schema or f'flyball.{name}/1')
    path = SCHEMAS / f'{name}.json'
    text = json.loads(path.read_text())
    resolver = jsonschema.RefResolver(path.as_uri(), text)
    jsonschema.Draft202012Validator(text, resolver=resolver).validate(told)
