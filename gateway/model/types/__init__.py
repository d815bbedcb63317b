"""The types that an attribute can have, one class each; import them from here.

A new type is one file that subclasses `AttributeType`, or `KeyType` where its values may fill a key.
"""

from gateway.model.types.base import KEY_SEPARATOR, AttributeType, Decode, Field, KeyType, ScalarSpec, Wire
from gateway.model.types.blob import Blob
from gateway.model.types.boolean import Boolean
from gateway.model.types.containers import ListOf, SetOf, Struct
from gateway.model.types.enumeration import EnumOf
from gateway.model.types.numbers import MAX_DIGITS, DecimalNumber, Integer
from gateway.model.types.text import MAX_KEY_STRING, Id, KeyString, Text
from gateway.model.types.timestamp import Timestamp, timestamp_text, utc

__all__ = [
    "KEY_SEPARATOR",
    "MAX_DIGITS",
    "MAX_KEY_STRING",
    "AttributeType",
    "Blob",
    "Boolean",
    "DecimalNumber",
    "Decode",
    "EnumOf",
    "Field",
    "Id",
    "Integer",
    "KeyString",
    "KeyType",
    "ListOf",
    "ScalarSpec",
    "SetOf",
    "Struct",
    "Text",
    "Timestamp",
    "Wire",
    "timestamp_text",
    "utc",
]
