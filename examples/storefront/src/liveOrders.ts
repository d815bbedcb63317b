// Orders as they are now. An event has what can change of an order; where no events come, the page shows what it has read.
import { useSubscription } from "urql";
import { graphql } from "./gql";
import type { OrderChangeFragment } from "./gql/graphql";
import { useConnected } from "./live";

graphql(/* GraphQL */ `
  fragment OrderChange on Order {
    id
    status
    version
  }
`);

const ONE = graphql(/* GraphQL */ `
  subscription OrderChanged($orderId: ID!) {
    order: orderChanged(orderId: $orderId) {
      ...OrderChange
    }
  }
`);

// of whom, the token says
const MINE = graphql(/* GraphQL */ `
  subscription MyOrdersChanged($first: Int!) {
    event: ordersOfUserChanged(first: $first) {
      page {
        nodes {
          ...OrderChange
        }
      }
      changes {
        kind
        node {
          ...OrderChange
        }
      }
    }
  }
`);

// whatever becomes of an order, it enters this list, changes in it or leaves it
const DESK = graphql(/* GraphQL */ `
  subscription DeskOrdersChanged {
    event: activeOrdersChanged {
      changes {
        kind
        node {
          ...OrderChange
        }
      }
    }
  }
`);

const OF_CUSTOMER = graphql(/* GraphQL */ `
  subscription OrdersOfCustomerChanged($userId: ID!) {
    event: ordersOfUserChanged(userId: $userId) {
      changes {
        kind
        node {
          ...OrderChange
        }
      }
    }
  }
`);

export function useLiveOrder(orderId: string) {
  const isConnected = useConnected();
  const [{ data, error }] = useSubscription({ query: ONE, variables: { orderId } });
  return { change: data?.order, isLive: isConnected && !error && Boolean(data?.order) };
}

/** The newest known change of each order; `added` counts the orders that have come since, `told` all changes. */
interface Known {
  changes: Record<string, OrderChangeFragment>;
  added: number;
  told: number;
}

interface OrderListEvent {
  event?: {
    page?: { nodes: OrderChangeFragment[] } | null;
    changes: { kind: string; node?: OrderChangeFragment | null }[];
  } | null;
}

function learn(known: Known = { changes: {}, added: 0, told: 0 }, { event }: OrderListEvent): Known {
  const told = event?.changes ?? [];
  const nodes = [...(event?.page?.nodes ?? []), ...told.flatMap(({ node }) => node ?? [])];
  return {
    changes: { ...known.changes, ...Object.fromEntries(nodes.map((node) => [node.id, node])) },
    added: known.added + told.filter(({ kind }) => kind === "ADDED").length,
    told: known.told + told.length,
  };
}

export function useMyLiveOrders(first: number) {
  const isConnected = useConnected();
  const [{ data, error }] = useSubscription({ query: MINE, variables: { first } }, learn);
  return { changes: data?.changes ?? {}, added: data?.added ?? 0, isLive: isConnected && !error && Boolean(data) };
}

/** Orders of the desk, or of one customer; `told` grows with every change, and the list is then read again. */
export function useLiveOrders(customer: string | null) {
  const isConnected = useConnected();
  const [desk] = useSubscription({ query: DESK, pause: customer !== null }, learn);
  const [own] = useSubscription(
    { query: OF_CUSTOMER, variables: { userId: customer ?? "" }, pause: customer === null },
    learn,
  );
  const { data, error } = customer === null ? desk : own;
  return { changes: data?.changes ?? {}, told: data?.told ?? 0, isLive: isConnected && !error && Boolean(data) };
}

/** Whichever is newer: what was read, or what an event said. */
export function newest<Order extends OrderChangeFragment>(read: Order, change?: OrderChangeFragment | null): Order {
  return change && change.version > read.version ? { ...read, ...change } : read;
}
