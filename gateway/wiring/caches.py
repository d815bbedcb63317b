"""Builds the read path: which caches sit between the table and DynamoDB."""

import boto3

from gateway.aws.sts.reader_role import in_role
from gateway.errors import ConfigurationError
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.tenant import tenant_id
from gateway.settings import Settings
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.dax.cluster import DaxCluster, DaxRules, connector
from gateway.store.cache.dax.reads import Ages, Clusters, DaxReads
from gateway.store.cache.keeper import CacheRules
from gateway.store.cache.layers import Layers
from gateway.store.cache.stats import GroupOf

ReadPath = ReadCache | DaxReads | Layers


def read_path(settings: Settings, model: Model, aws: boto3.Session) -> ReadPath | None:
    """The cache between the table and DynamoDB: none, the process's own, DAX, or both."""
    match settings.cache:
        case "off":
            return None
        case "ttl":
            return _ttl_cache(settings, model)
        case "dax":
            return _dax_reads(settings, model, aws)
        case "ttl+dax":
            return Layers(_ttl_cache(settings, model), _dax_reads(settings, model, aws))


def _ttl_cache(settings: Settings, model: Model) -> ReadCache:
    rules = CacheRules(bytes=settings.cache_max_bytes, flight_seconds=settings.request_timeout_seconds)
    return ReadCache(model, rules, _group_of(settings))


def _group_of(settings: Settings) -> GroupOf:
    """Only a few groups, because they become labels of metrics."""
    return lambda tenant: "silo" if tenant in settings.silos else "pooled"


def _dax_reads(settings: Settings, model: Model, aws: boto3.Session) -> DaxReads:
    ages = Ages(settings.dax_item_ttl_seconds, settings.dax_query_ttl_seconds)
    _check_staleness(model, ages)
    rules = DaxRules(threads=settings.dax_threads, seconds=settings.dax_timeout_seconds)
    clusters: dict[tuple[str, str | None], DaxCluster] = {}

    def cluster(address: str | None, role: str | None, region: str) -> DaxCluster | None:
        if address is None:
            return None
        if (address, role) not in clusters:
            signer = aws if role is None else in_role(aws, role, region, settings.sts_endpoint)
            clusters[address, role] = DaxCluster(address, connector(address, region, signer, rules), rules)
        return clusters[address, role]

    silos = {
        tenant_id(name): cluster(silo.dax_endpoint, silo.dax_role_arn, silo.region or settings.region)
        for name, silo in settings.silos.items()
    }
    pooled = cluster(settings.dax_endpoint, settings.dax_role_arn, settings.region)
    return DaxReads(model.table, Clusters(pooled, silos), ages, _group_of(settings))


def _check_staleness(model: Model, ages: Ages) -> None:
    """A cluster would be useless if every declared staleness were below the age of its entries."""
    listings = [pattern for pattern in model.patterns.values() if isinstance(pattern, Listing)]
    items = any(entity.cached and entity.cached.seconds >= ages.items for entity in model.entities.values())
    pages = any(listing.cached and listing.cached.seconds >= ages.pages for listing in listings)
    if not items and not pages:
        raise ConfigurationError(
            ["cache: nothing in the model may be as old as dax_item_ttl_seconds or dax_query_ttl_seconds"]
        )
