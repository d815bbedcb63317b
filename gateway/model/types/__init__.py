"""The types that an attribute can have, one class each; import them from here.

A new type is one file that subclasses `AttributeType`, or `KeyType` if its values may fill a key.
"""

from gateway.model.types.base import KEY_SEPARATOR, AttributeType, Decode, Field, KeyType, ScalarSpec, Subject, Wire
from gateway.model.types.blob import Blob
from gateway.model.types.containers import ListOf, SetOf, Struct, with_inner
from gateway.model.types.enumeration import Boolean, EnumOf
from gateway.model.types.file import DOWNLOAD, SHA256, File
from gateway.model.types.money import Currency, Money
from gateway.model.types.numbers import MAX_DIGITS, MAX_INT, MIN_INT, DecimalNumber, Integer
from gateway.model.types.text import MAX_KEY_STRING, Email, Id, KeyString, KeyText, Text
from gateway.model.types.timestamp import Date, Timestamp, timestamp_text, utc

__all__ = [
    "DOWNLOAD",
    "KEY_SEPARATOR",
    "MAX_DIGITS",
    "MAX_INT",
    "MAX_KEY_STRING",
    "MIN_INT",
    "SHA256",
    "AttributeType",
    "Blob",
    "Boolean",
    "Currency",
    "Date",
    "DecimalNumber",
    "Decode",
    "Email",
    "EnumOf",
    "Field",
    "File",
    "Id",
    "Integer",
    "KeyString",
    "KeyText",
    "KeyType",
    "ListOf",
    "Money",
    "ScalarSpec",
    "SetOf",
    "Struct",
    "Subject",
    "Text",
    "Timestamp",
    "Wire",
    "timestamp_text",
    "utc",
    "with_inner",
]
