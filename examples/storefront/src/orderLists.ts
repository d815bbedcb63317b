// The ways to list orders; each is an access pattern of the gateway, and answers in the same form.
import { useQuery } from "urql";
import { graphql } from "./gql";
import type { OrderStatus } from "./gql/graphql";
import type { Cursor } from "./Pager";

graphql(/* GraphQL */ `
  fragment OrderRow on Order {
    id
    orderId
    status
    version
    placedAt
    total
    currency
    productIds
    userId
    user {
      id
      name
    }
  }
`);

const ACTIVE = graphql(/* GraphQL */ `
  query ActiveOrders($first: Int, $after: String, $last: Int, $before: String) {
    page: activeOrders(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        ...OrderRow
      }
      pageInfo {
        ...PageCursors
      }
    }
  }
`);

const BY_STATUS = graphql(/* GraphQL */ `
  query OrdersByStatus($status: OrderStatus!, $first: Int, $after: String, $last: Int, $before: String) {
    page: ordersByStatus(status: $status, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        ...OrderRow
      }
      pageInfo {
        ...PageCursors
      }
    }
  }
`);

const OF_CUSTOMER = graphql(/* GraphQL */ `
  query OrdersOfCustomer($userId: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    page: ordersOfUser(userId: $userId, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        ...OrderRow
      }
      pageInfo {
        ...PageCursors
      }
    }
  }
`);

/** Three access patterns, of which one is asked. */
export function useOrderList(customer: string | null, view: string, cursor: Cursor) {
  // others place orders too: what is known is shown at once, and asked again
  const requestPolicy = "cache-and-network";
  const [active, askActive] = useQuery({
    query: ACTIVE,
    variables: cursor,
    pause: customer !== null || view !== "active",
    requestPolicy,
  });
  const [some, askSome] = useQuery({
    query: BY_STATUS,
    variables: { status: view as OrderStatus, ...cursor },
    pause: customer !== null || view === "active",
    requestPolicy,
  });
  const [own, askOwn] = useQuery({
    query: OF_CUSTOMER,
    variables: { userId: customer ?? "", ...cursor },
    pause: customer === null,
    requestPolicy,
  });
  if (customer !== null) return { result: own, again: askOwn };
  return view === "active" ? { result: active, again: askActive } : { result: some, again: askSome };
}
