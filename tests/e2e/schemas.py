# SPDX-License-Identifier: MIT
"""Answers against the schemas that are shipped."""
import functools
import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).parents[2] / 'docs/schema'


@functools.cache
def validator(name):
    path = SCHEMAS / f'{name}.json'
    text = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(text)
    resolver = jsonschema.RefResolver(path.as_uri(), text)
    return jsonschema.Draft202012Validator(text, resolver=resolver)


def check(told, name):
    """As docs/schema/NAME.json says. What was told."""
    validator(name).validate(told)
    return told


def check_answer(told, name, schema=None):
    """The same of an answer, whose `schema` is flyball.NAME/1 unless said."""
    assert told['schema'] == (schema or f'flyball.{name}/1')
    return check(told, name)
