// A customer's own orders. Nobody is named: the gateway knows who asks by the token, and AWS gives no other rows.
import { useEffect, useState } from "react";
import { type CombinedError, useMutation, useQuery } from "urql";
import { justPlaced } from "./basket";
import { graphql } from "./gql";
import type { MyOrdersQuery, UserErrorCode } from "./gql/graphql";
import { Live } from "./LiveMark";
import { newest, useMyLiveOrders } from "./liveOrders";
import { money, times } from "./money";
import { Failure, Notice } from "./Notice";
import { CANCEL, CANCELLABLE } from "./OrderSteps";
import { cursorOf, Pager } from "./Pager";
import { refusal } from "./problems";
import { to } from "./route";
import { Status } from "./Status";
import { counted, moment } from "./words";

const MINE = graphql(/* GraphQL */ `
  query MyOrders($first: Int, $after: String, $last: Int, $before: String) {
    page: ordersOfUser(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        orderId
        status
        placedAt
        total
        currency
        version
        productIds
        items {
          productId
          title
          quantity
          unitPrice
        }
      }
      pageInfo {
        ...PageCursors
      }
    }
  }
`);

type Order = NonNullable<MyOrdersQuery["page"]>["nodes"][number];

const SIZE = 5;

export function MyOrders({ query }: { query: URLSearchParams }) {
  const [placed] = useState(() => justPlaced.get());
  useEffect(() => justPlaced.set(null), []);
  const [{ data, error, fetching }, again] = useQuery({
    query: MINE,
    variables: cursorOf(query, SIZE),
    requestPolicy: "cache-and-network",
  });
  const page = data?.page;
  const reload = () => again({ requestPolicy: "network-only" });
  const { changes, added, isLive } = useMyLiveOrders(SIZE);
  useEffect(() => {
    if (added) reload();
  }, [added]);
  return (
    <>
      <div className="heading">
        <h1>My orders</h1>
        <Live isLive={isLive} />
      </div>
      {placed && <Notice kind="good" title="Your order is placed." />}
      {!page && fetching && <p className="waiting">Loading your orders…</p>}
      {!page && error && <Failure error={error} retry={reload} />}
      {page?.nodes.length === 0 && (
        <p className="empty">
          You have no orders yet. <a href={to(["catalogue"])}>Look at the catalogue</a>
        </p>
      )}
      {page && page.nodes.length > 0 && (
        <div aria-busy={fetching}>
          <ul className="mine">
            {page.nodes.map((order) => (
              <Card key={order.id} order={newest(order, changes[order.id])} reload={reload} />
            ))}
          </ul>
          <Pager info={page.pageInfo} path={["orders"]} query={{}} words={["Newer", "Older"]} />
        </div>
      )}
    </>
  );
}

function Card({ order, reload }: { order: Order; reload: () => void }) {
  return (
    <li className="card" aria-label={`Order ${order.orderId}`}>
      <div className="heading">
        <h2 className="id">{order.orderId}</h2>
        <span aria-live="polite">
          <Status status={order.status} />
        </span>
      </div>
      <p className="dim">{moment(order.placedAt)}</p>
      {order.items ? (
        <ul className="items">
          {order.items.map((item) => (
            <li key={item.productId}>
              <span>
                {item.quantity} × {item.title}
              </span>
              <span className="number">{money(times(item.unitPrice, item.quantity), order.currency)}</span>
            </li>
          ))}
        </ul>
      ) : (
        <p className="dim">{counted(order.productIds.length, "product")}</p>
      )}
      <p className="total">
        Total <strong>{money(order.total, order.currency)}</strong>
      </p>
      {CANCELLABLE.includes(order.status) && <Cancel order={order} reload={reload} />}
    </li>
  );
}

function Cancel({ order, reload }: { order: Order; reload: () => void }) {
  const [asked, setAsked] = useState(false);
  const [refused, setRefused] = useState<UserErrorCode | null>(null);
  const [failed, setFailed] = useState<CombinedError | null>(null);
  const [{ fetching }, cancel] = useMutation(CANCEL);

  async function run(): Promise<void> {
    setAsked(false);
    const input = { orderId: order.orderId, version: order.version };
    const { data, error } = await cancel({ input }, { additionalTypenames: ["Order", "Stock"] });
    setFailed(error ?? null);
    setRefused(data?.change?.errors[0]?.code ?? null);
    // the list shows the order as it is now, whatever came of it
    reload();
  }

  return (
    <>
      {failed && <Failure error={failed} changing />}
      {refused && <Notice kind="warn" title={refusal(refused)} />}
      {asked ? (
        <div className="sure" role="group" aria-label="Cancel the order?">
          <button type="button" className="danger" autoFocus onClick={run}>
            Yes, cancel it
          </button>
          <button type="button" className="quiet" onClick={() => setAsked(false)}>
            Keep it
          </button>
        </div>
      ) : (
        <button type="button" className="quiet off" disabled={fetching} onClick={() => setAsked(true)}>
          {fetching ? "Cancelling…" : "Cancel the order"}
        </button>
      )}
    </>
  );
}
