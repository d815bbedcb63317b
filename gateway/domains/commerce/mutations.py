"""What can be changed in commerce: plain create, update and remove, and the changes with rules of their own."""

from gateway.domains.commerce import category, product, supplier
from gateway.domains.commerce.account import ACCOUNT
from gateway.domains.commerce.ordering import ORDERING
from gateway.domains.commerce.people import PEOPLE
from gateway.domains.commerce.stocking import STOCKING
from gateway.graph.crud import crud
from gateway.graph.mutation import Mutation

MUTATIONS: tuple[Mutation, ...] = (
    *PEOPLE,
    *ACCOUNT,
    *crud(category.ENTITIES[0]),
    *crud(supplier.ENTITIES[0]),
    *crud(product.ENTITIES[0]),
    *STOCKING,
    *ORDERING,
)
