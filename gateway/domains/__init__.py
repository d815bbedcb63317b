"""The adopter's room: each domain declares its entities, access patterns and API."""

from gateway.domains.commerce import COMMERCE
from gateway.domains.commerce.mutations import COMMERCE_MUTATIONS
from gateway.model.model import Model

MODEL = Model(domains=(COMMERCE,))
MUTATIONS = (*COMMERCE_MUTATIONS,)
