"""A multi-tenant GraphQL gateway with fine-grained IAM over one DynamoDB table.

These names are the public API: a domain imports only from here. They are loaded on first use, so that importing one
part of the package does not load the others.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# the public names by the module that defines them
_PUBLIC = {
    "gateway.app": ("create_app",),
    "gateway.domains": ("load_domains",),
    "gateway.errors": (
        "BadUserInput",
        "ConfigurationError",
        "Conflict",
        "Forbidden",
        "GatewayError",
        "LimitExceeded",
        "ModelError",
        "NotFound",
        "Unavailable",
    ),
    "gateway.graph.mutation.bulk": ("bulk",),
    "gateway.graph.mutation.files": ("file_mutations",),
    "gateway.graph.mutation.crud": ("VERSION", "create", "crud", "new_id", "now", "remove", "update"),
    "gateway.model.demo": ("Demo", "DemoTenant", "Example", "SeedRow"),
    "gateway.graph.query.caller_reader": ("CallerReader",),
    "gateway.model.code": ("Computed", "CustomQuery", "Loaded"),
    "gateway.model.entity": (
        "Attribute",
        "Bucket",
        "Collection",
        "Copy",
        "Entity",
        "Expiry",
        "Key",
        "OnIndex",
        "Reference",
        "Shards",
        "Total",
        "Upgrade",
        "When",
        "whole_list",
    ),
    "gateway.model.error_code": ("ErrorCode", "UserErrorCode"),
    "gateway.model.model": ("Domain", "Model"),
    "gateway.model.mutation": ("Mutation",),
    "gateway.model.patterns": (
        "AccessPattern",
        "Choice",
        "Counter",
        "ItemCollection",
        "Listing",
        "Lookup",
        "Traffic",
        "Watch",
    ),
    "gateway.model.role": ("ALL", "PERSONAL", "STANDARD_ROLES", "Role"),
    "gateway.model.staleness": ("Staleness",),
    "gateway.model.table": ("Index",),
    "gateway.model.tenant": ("TenantId",),
    "gateway.model.types": (
        "AttributeType",
        "Blob",
        "Boolean",
        "Currency",
        "Date",
        "DecimalNumber",
        "Decode",
        "Email",
        "File",
        "EnumOf",
        "Field",
        "Id",
        "Integer",
        "KeyString",
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
    ),
    "gateway.settings": ("Settings", "load_settings"),
    "gateway.store.access": ("gather_or_cancel",),
    "gateway.store.plan": ("Range",),
    "gateway.store.record": ("Record",),
    "gateway.store.rows": ("Item",),
    "gateway.store.write": ("upserts",),
    "gateway.store.write.change": ("Change",),
    "gateway.store.write.faults": ("Fault", "Rejected", "invalid", "missing"),
    "gateway.store.write.writer": ("MutationResult", "Writer"),
}
_HOME = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = [*_HOME]  # noqa: PLE0604  names from the table


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gateway' has no attribute {name!r}")
    home = importlib.import_module(_HOME[name])
    value = globals()[name] = getattr(home, name, None) or importlib.import_module(f"{_HOME[name]}.{name}")
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


if TYPE_CHECKING:
    from gateway.app import create_app as create_app
    from gateway.domains import load_domains as load_domains
    from gateway.errors import BadUserInput as BadUserInput
    from gateway.errors import ConfigurationError as ConfigurationError
    from gateway.errors import Conflict as Conflict
    from gateway.errors import Forbidden as Forbidden
    from gateway.errors import GatewayError as GatewayError
    from gateway.errors import LimitExceeded as LimitExceeded
    from gateway.errors import ModelError as ModelError
    from gateway.errors import NotFound as NotFound
    from gateway.errors import Unavailable as Unavailable
    from gateway.graph.mutation.bulk import bulk as bulk
    from gateway.graph.mutation.crud import VERSION as VERSION
    from gateway.graph.mutation.crud import create as create
    from gateway.graph.mutation.crud import crud as crud
    from gateway.graph.mutation.crud import new_id as new_id
    from gateway.graph.mutation.crud import now as now
    from gateway.graph.mutation.crud import remove as remove
    from gateway.graph.mutation.crud import update as update
    from gateway.graph.mutation.files import file_mutations as file_mutations
    from gateway.graph.query.caller_reader import CallerReader as CallerReader
    from gateway.model.code import Computed as Computed
    from gateway.model.code import CustomQuery as CustomQuery
    from gateway.model.code import Loaded as Loaded
    from gateway.model.demo import Demo as Demo
    from gateway.model.demo import DemoTenant as DemoTenant
    from gateway.model.demo import Example as Example
    from gateway.model.demo import SeedRow as SeedRow
    from gateway.model.entity import Attribute as Attribute
    from gateway.model.entity import Bucket as Bucket
    from gateway.model.entity import Collection as Collection
    from gateway.model.entity import Copy as Copy
    from gateway.model.entity import Entity as Entity
    from gateway.model.entity import Expiry as Expiry
    from gateway.model.entity import Key as Key
    from gateway.model.entity import OnIndex as OnIndex
    from gateway.model.entity import Reference as Reference
    from gateway.model.entity import Shards as Shards
    from gateway.model.entity import Total as Total
    from gateway.model.entity import Upgrade as Upgrade
    from gateway.model.entity import When as When
    from gateway.model.entity import whole_list as whole_list
    from gateway.model.error_code import ErrorCode as ErrorCode
    from gateway.model.error_code import UserErrorCode as UserErrorCode
    from gateway.model.model import Domain as Domain
    from gateway.model.model import Model as Model
    from gateway.model.mutation import Mutation as Mutation
    from gateway.model.patterns import AccessPattern as AccessPattern
    from gateway.model.patterns import Choice as Choice
    from gateway.model.patterns import Counter as Counter
    from gateway.model.patterns import ItemCollection as ItemCollection
    from gateway.model.patterns import Listing as Listing
    from gateway.model.patterns import Lookup as Lookup
    from gateway.model.patterns import Traffic as Traffic
    from gateway.model.patterns import Watch as Watch
    from gateway.model.role import ALL as ALL
    from gateway.model.role import PERSONAL as PERSONAL
    from gateway.model.role import STANDARD_ROLES as STANDARD_ROLES
    from gateway.model.role import Role as Role
    from gateway.model.staleness import Staleness as Staleness
    from gateway.model.table import Index as Index
    from gateway.model.tenant import TenantId as TenantId
    from gateway.model.types import AttributeType as AttributeType
    from gateway.model.types import Blob as Blob
    from gateway.model.types import Boolean as Boolean
    from gateway.model.types import Currency as Currency
    from gateway.model.types import Date as Date
    from gateway.model.types import DecimalNumber as DecimalNumber
    from gateway.model.types import Decode as Decode
    from gateway.model.types import Email as Email
    from gateway.model.types import EnumOf as EnumOf
    from gateway.model.types import Field as Field
    from gateway.model.types import File as File
    from gateway.model.types import Id as Id
    from gateway.model.types import Integer as Integer
    from gateway.model.types import KeyString as KeyString
    from gateway.model.types import KeyType as KeyType
    from gateway.model.types import ListOf as ListOf
    from gateway.model.types import Money as Money
    from gateway.model.types import ScalarSpec as ScalarSpec
    from gateway.model.types import SetOf as SetOf
    from gateway.model.types import Struct as Struct
    from gateway.model.types import Subject as Subject
    from gateway.model.types import Text as Text
    from gateway.model.types import Timestamp as Timestamp
    from gateway.model.types import Wire as Wire
    from gateway.settings import Settings as Settings
    from gateway.settings import load_settings as load_settings
    from gateway.store.access import gather_or_cancel as gather_or_cancel
    from gateway.store.plan import Range as Range
    from gateway.store.record import Record as Record
    from gateway.store.rows import Item as Item
    from gateway.store.write import upserts as upserts
    from gateway.store.write.change import Change as Change
    from gateway.store.write.faults import Fault as Fault
    from gateway.store.write.faults import Rejected as Rejected
    from gateway.store.write.faults import invalid as invalid
    from gateway.store.write.faults import missing as missing
    from gateway.store.write.writer import MutationResult as MutationResult
    from gateway.store.write.writer import Writer as Writer
