"""The roles of the shop: the standard ones for its staff, the customer, who sees only its own rows, and the role in
which customers' orders are placed."""

from dataclasses import replace

from gateway import STANDARD_ROLES, Role

CUSTOMER = Role(
    name="customer",
    description="reads the catalogue and its own user, orders and account; places orders and manages subscriptions",
    reads=(
        *("product", "stock", "productsByCategory", "category", "categories"),
        *("User", "Order", "Email", "Phone", "Session", "Notification", "UserSubscription"),
    ),
    writes=("UserSubscription",),
    # they are in the partition of the user, and no mutation that a customer may call changes them
    beside=("User", "Order", "Email", "Phone", "Notification"),
    own=True,
    mutations=(
        *("placeOrder", "cancelOrder"),
        *("createUserSubscription", "updateUserSubscription", "removeUserSubscription"),
    ),
)
# support finds a customer by the e-mail address that the customer states, and never reads one
FINDS = {"support": ("userByEmail",)}
ORDERING = Role(
    name="ordering",
    description="writes the orders of one customer with their lines, and takes their products from the stock",
    reads=("product", "stock", "order", "orderLine", "orderEvent"),
    writes=("Order", "OrderLine", "OrderEvent", "Stock"),
    removes=(),
    # they are in the partitions of the customer and of the products, and ordering changes none of them
    beside=("User", "Email", "Phone", "Notification", "UserSubscription", "Product"),
    own=True,
    acting=True,
)
ROLES = (*(replace(role, finds=FINDS.get(role.name, ())) for role in STANDARD_ROLES), CUSTOMER, ORDERING)
