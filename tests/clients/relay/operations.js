// What relay-compiler compiles: a connection in a refetchable fragment, a node, a mutation.
import { graphql } from "relay-runtime";

graphql`
  fragment operationsPage on Query
  @refetchable(queryName: "operationsNextPageQuery")
  @argumentDefinitions(first: { type: "Int" }, after: { type: "String" }) {
    productsByCategory(categoryId: "tools", first: $first, after: $after) @connection(key: "operationsPage_productsByCategory") {
      edges {
        node {
          id
          productId
          title
        }
      }
    }
  }
`;

graphql`
  query operationsProductsQuery($first: Int) {
    ...operationsPage @arguments(first: $first)
  }
`;

graphql`
  query operationsProductQuery($productId: ID!) {
    product(productId: $productId) {
      id
      productId
      title
      version
      stock {
        available
      }
    }
  }
`;

graphql`
  query operationsNodeQuery($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Product {
        title
      }
    }
  }
`;

graphql`
  mutation operationsRenameMutation($input: UpdateProductInput!, $key: String) {
    updateProduct(input: $input, idempotencyKey: $key) {
      product {
        id
        productId
        title
        version
      }
      errors {
        code
        message
        field
        currentVersion
      }
    }
  }
`;

graphql`
  subscription operationsWatchedSubscription($userId: ID!, $first: Int) {
    ordersOfUserChanged(userId: $userId, first: $first) {
      page {
        nodes {
          id
          orderId
          status
        }
      }
      changes {
        kind
        nodeId
        node {
          id
          orderId
          status
        }
      }
    }
  }
`;
