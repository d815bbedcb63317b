"""The mutations of commerce: create, update and remove, and those with rules of their own."""

from gateway.demo.commerce import category, product, supplier
from gateway.demo.commerce.account import ACCOUNT
from gateway.demo.commerce.ordering import ORDERING
from gateway.demo.commerce.people import PEOPLE
from gateway.demo.commerce.stocking import STOCKING
from gateway.graph.mutation.crud import crud
from gateway.graph.mutation.mutation import Mutation

MUTATIONS: tuple[Mutation, ...] = (
    *PEOPLE,
    *ACCOUNT,
    *crud(category.ENTITIES[0]),
    *crud(supplier.ENTITIES[0]),
    *crud(product.ENTITIES[0]),
    *STOCKING,
    *ORDERING,
)
