"""Example operations of commerce, one for each kind of access pattern; the playground offers them."""

from gateway import Example

EXAMPLES = (
    Example(
        title="A user with the newest orders",
        about=(
            "Two entities, one Query: profile and orders share a partition. As `support`, the name is "
            "refused and the rest is returned."
        ),
        tab=True,
        query="""query UserWithOrders($userId: ID!) {
  user(userId: $userId) {
    name
    createdAt
    orders(first: 5) {
      nodes {
        orderId
        status
        placedAt
        total
        currency
      }
    }
  }
}
""",
        variables={"userId": "u-1001"},
        tenants={"initech": {"userId": "u-5001"}},
    ),
    Example(
        title="All orders of the shop",
        about=(
            "All orders, from a sharded index, filtered; and the number of orders that are "
            "active, which is maintained in the transactions that change them."
        ),
        query="""query AllOrders {
  allOrders(first: 10, filter: { total: { ge: "50" } }) {
    nodes {
      orderId
      status
      placedAt
      total
      currency
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  activeOrders {
    totalCount
  }
}""",
    ),
    Example(
        title="Active orders, with everything around them",
        about=(
            "A sparse, sharded index read in parallel, then one BatchGetItem for each kind of relation, "
            "however many orders there are."
        ),
        tab=True,
        query="""query ActiveOrders {
  activeOrders(first: 10) {
    nodes {
      orderId
      status
      total
      user {
        name
      }
      lines {
        title
        quantity
        product {
          price
          stock {
            available
          }
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
""",
    ),
    Example(
        title="Products by price",
        about=("Sorted by the index: numbers in keys have a fixed width, so a range of prices is a range of keys."),
        query="""query ProductsByPrice($categoryId: ID!, $price: DecimalRange) {
  productsByCategory(categoryId: $categoryId, price: $price, first: 10) {
    nodes {
      productId
      title
      price
      currency
      supplier {
        title
      }
    }
  }
}
""",
        variables={"categoryId": "tools", "price": {"from": "10", "to": "60"}},
        tenants={
            "globex": {"categoryId": "chairs", "price": {"from": "100", "to": "600"}},
            "initech": {"categoryId": "beans", "price": {"from": "10", "to": "25"}},
        },
    ),
    Example(
        title="A user by e-mail address",
        about=(
            "One row of an overloaded index leads to the user. `support` may not search by a personal key: "
            "the whole call is refused."
        ),
        tab=True,
        query="""query UserByEmail($email: String!) {
  userByEmail(email: $email) {
    userId
    email
    address {
      city
      country
    }
    phones {
      nodes {
        phone
        verified
      }
    }
  }
}
""",
        variables={"email": "robin.hale@example.com"},
    ),
    Example(
        title="Place an order",
        about=(
            "One transaction: the order, its lines, the user's copy and the stock. Needs `editor`; a "
            "`viewer` is refused before anything is read. The idempotency key makes a retry harmless."
        ),
        tab=True,
        query="""mutation PlaceOrder($input: PlaceOrderInput!, $key: String) {
  placeOrder(input: $input, idempotencyKey: $key) {
    order {
      orderId
      status
      total
      lines {
        title
        quantity
        unitPrice
      }
    }
    errors {
      code
      message
      field
    }
  }
}
""",
        variables={
            "input": {"userId": "u-1001", "lines": [{"productId": "p-1003", "quantity": 1}]},
            "key": "playground-1",
        },
        tenants={
            "initech": {
                "input": {"userId": "u-5001", "lines": [{"productId": "p-5003", "quantity": 1}]},
                "key": "playground-1",
            }
        },
    ),
    Example(
        title="Many users at once",
        about="One BatchGetItem; the result has the order of the ids, with null for each user that does not exist.",
        query="""query ManyUsers($userIds: [ID!]!) {
  users(userIds: $userIds) {
    userId
    name
    createdAt
  }
}
""",
        variables={"userIds": ["u-1001", "u-1002", "u-1003", "u-0000"]},
        tenants={"initech": {"userIds": ["u-5001", "u-5002", "u-5003", "u-0000"]}},
    ),
    Example(
        title="Orders of a user, page by page",
        about=(
            "Send `endCursor` as `after`. A cursor is encrypted: it works for this list, these arguments "
            "and this tenant only."
        ),
        query="""query OrdersOfUser($userId: ID!, $placedAt: DateTimeRange, $after: String) {
  ordersOfUser(userId: $userId, placedAt: $placedAt, first: 3, after: $after) {
    nodes {
      orderId
      placedAt
      total
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
""",
        variables={"userId": "u-1001", "placedAt": {"from": "2020-01-01T00:00:00Z"}},
        tenants={"initech": {"userId": "u-5001", "placedAt": {"from": "2020-01-01T00:00:00Z"}}},
    ),
    Example(
        title="Orders in one status",
        about="A busy partition is spread over four shards; they are read in parallel and merged by time.",
        query="""query OrdersByStatus($status: OrderStatus!) {
  ordersByStatus(status: $status, first: 10) {
    nodes {
      orderId
      placedAt
      total
      currency
    }
  }
}
""",
        variables={"status": "SHIPPED"},
    ),
    Example(
        title="The review queue",
        about="A sparse index that holds only orders that still need a review.",
        query="""query ReviewQueue {
  reviewQueue(first: 10) {
    nodes {
      orderId
      placedAt
      total
      note
    }
  }
}
""",
    ),
    Example(
        title="The catalogue",
        about=(
            "A list in a list: DynamoDB has no batch form of Query, so each category costs one. The limit is a setting."
        ),
        query="""query Catalogue {
  categories {
    nodes {
      categoryId
      title
      products(first: 2) {
        nodes {
          title
          price
        }
      }
    }
  }
}
""",
    ),
    Example(
        title="A product and who bought it",
        about="Stock is a strong read and costs twice as much; the buyers come from an index.",
        query="""query ProductSales($productId: ID!) {
  product(productId: $productId) {
    title
    price
    tags
    stock {
      available
      updatedAt
    }
    orderLines(first: 5) {
      nodes {
        quantity
        unitPrice
        order {
          orderId
          status
        }
      }
    }
  }
}
""",
        variables={"productId": "p-1001"},
        tenants={"initech": {"productId": "p-5001"}},
    ),
    Example(
        title="Anything by its global id",
        about=(
            "An id of one tenant is not valid for another: after a switch, the result is null, as for an id "
            "that never existed."
        ),
        query="""query AnyNode($id: ID!) {
  node(id: $id) {
    __typename
    id
    ... on Product {
      title
      price
    }
  }
}
""",
        variables={"id": "IAlxaFgHUHJvZHVjdCNwLTEwMDE"},
    ),
    Example(
        title="Change a product, safely",
        about=(
            "Send the version that you have read: a change by another caller in between is reported as "
            "CONFLICT, not overwritten. Needs `editor`."
        ),
        query="""mutation UpdateProduct($input: UpdateProductInput!) {
  updateProduct(input: $input) {
    product {
      productId
      title
      version
    }
    errors {
      code
      message
      currentVersion
    }
  }
}
""",
        variables={"input": {"productId": "p-1001", "version": 1, "title": "Claw hammer, second edition"}},
        tenants={
            "initech": {"input": {"productId": "p-5001", "version": 1, "title": "House blend, second edition"}},
            "globex": {"input": {"productId": "p-1001", "version": 1, "title": "Standing desk, second edition"}},
        },
    ),
)
