// Orders, a page at a time; each view is an access pattern of its own.
import { useEffect, useRef } from "react";
import type { OrderRowFragment } from "./gql/graphql";
import { Live } from "./LiveMark";
import { newest, useLiveOrders } from "./liveOrders";
import { money } from "./money";
import { Failure, Notice } from "./Notice";
import { useOrderList } from "./orderLists";
import { cursorOf, Pager } from "./Pager";
import { codesOf, hiddenFields } from "./problems";
import { go, to } from "./route";
import { Status } from "./Status";
import { counted, moment, since, STATUS } from "./words";

const SIZE = 10;
const AT_MOST_EVERY = 1_000; // milliseconds between two reads, however much changes
const VIEWS: [name: string, title: string][] = [["active", "Under way"], ...Object.entries(STATUS)];

export function Orders({ query }: { query: URLSearchParams }) {
  const customer = query.get("customer");
  const view = query.get("view") ?? "active";
  const cursor = cursorOf(query, SIZE);
  const named: Record<string, string> = customer ? { customer } : { view };
  const list = useOrderList(customer, view, cursor);
  const { changes, told, isLive } = useLiveOrders(customer);
  useReadAgain(told, () => list.again({ requestPolicy: "network-only" }));
  return (
    <>
      <div className="heading">
        <h1>{customer ? `Orders of ${customer}` : "Orders"}</h1>
        <Live isLive={isLive} />
      </div>
      {customer ? (
        <p>
          <a href={to(["orders"])}>← All orders</a>
        </p>
      ) : (
        <nav className="views" aria-label="Which orders">
          {VIEWS.map(([name, title]) => (
            <a key={name} href={to(["orders"], { view: name })} aria-current={name === view ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      )}
      <List {...list} changes={changes} query={named} />
    </>
  );
}

/** Orders come, move and go: after changes the page is read again, and once for many that come together. */
function useReadAgain(told: number, again: () => void): void {
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    if (!told || waiting.current !== undefined) return;
    waiting.current = setTimeout(() => {
      waiting.current = undefined;
      latest.current();
    }, AT_MOST_EVERY);
  }, [told]);
  useEffect(() => () => clearTimeout(waiting.current), []);
}

type ListProps = ReturnType<typeof useOrderList> & {
  changes: ReturnType<typeof useLiveOrders>["changes"];
  query: Record<string, string>;
};

function List({ result: { data, error, fetching }, again, changes, query }: ListProps) {
  const page = data?.page;
  if (!page) {
    if (fetching) return <p className="waiting">Loading orders…</p>;
    // a cursor that was made for somebody else, or before the sandbox was started anew
    if (codesOf(error).includes("BAD_USER_INPUT")) return <PageIsGone query={query} />;
    return error ? <Failure error={error} retry={() => again({ requestPolicy: "network-only" })} /> : null;
  }
  const { nodes, pageInfo } = page;
  if (nodes.length === 0) return <p className="empty">There are no orders here.</p>;
  return (
    <div aria-busy={fetching}>
      <table className="orders">
        <thead>
          <tr>
            <th scope="col">Order</th>
            <th scope="col">Customer</th>
            <th scope="col">Placed</th>
            <th scope="col">Products</th>
            <th scope="col">Status</th>
            <th scope="col" className="number">
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((order) => (
            <Row key={order.id} order={newest(order, changes[order.id])} isHidden={hiddenFields(error).has("page.nodes.user.name")} />
          ))}
        </tbody>
      </table>
      <Pager info={pageInfo} path={["orders"]} query={query} words={["Newer", "Older"]} />
    </div>
  );
}

function Row({ order, isHidden }: { order: OrderRowFragment; isHidden: boolean }) {
  return (
    // the link is for keyboards and screen readers; a mouse may click anywhere in the row
    <tr onClick={(event) => (event.target as Element).closest("a") || go(to(["orders", order.orderId]))}>
      <th scope="row">
        <a href={to(["orders", order.orderId])}>{shortened(order.orderId)}</a>
      </th>
      <td>
        <a className="plain" href={to(["orders"], { customer: order.userId })}>
          {order.user?.name ?? order.userId}
        </a>
        {isHidden && (
          <span className="hidden" title="Your role may not see names">
            name hidden
          </span>
        )}
      </td>
      <td title={moment(order.placedAt)}>{since(order.placedAt)}</td>
      <td>{counted(order.productIds.length, "product")}</td>
      <td aria-live="polite">
        <Status status={order.status} />
      </td>
      <td className="number">{money(order.total, order.currency)}</td>
    </tr>
  );
}

/** Ids that were made are long; their end tells them apart. */
export function shortened(orderId: string): string {
  return orderId.length > 12 ? `…${orderId.slice(-8)}` : orderId;
}

function PageIsGone({ query }: { query: Record<string, string> }) {
  return (
    <Notice kind="warn" title="This page of the list no longer exists.">
      <p>
        <a href={to(["orders"], query)}>Back to the newest orders</a>
      </p>
    </Notice>
  );
}
