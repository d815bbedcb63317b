"""Reads a JSON file of the operator into a checked value, and reports every fault in it."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from gateway.errors import ConfigurationError

M = TypeVar("M", bound=BaseModel)


def read_json_file(path: Path, kind: type[M], *, named: str, where: str = "") -> M:
    """`named` is what the file is called in messages, and `where` is written before each wrong value."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError([f"{named} `{path}` cannot be read: {error}"]) from error
    if not isinstance(content, dict):
        raise ConfigurationError([f"{named} `{path}` is not a JSON object"])
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        faults = [f"{where}{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        raise ConfigurationError(faults) from error
