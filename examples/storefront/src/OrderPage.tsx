// One order with its lines, and what may become of it.
import { useEffect, useState } from "react";
import { useQuery } from "urql";
import { justPlaced } from "./basket";
import { graphql } from "./gql";
import type { OrderQuery } from "./gql/graphql";
import { Live } from "./LiveMark";
import { newest, useLiveOrder } from "./liveOrders";
import { money, times } from "./money";
import { Failure, Notice } from "./Notice";
import { Steps } from "./OrderSteps";
import { hiddenFields } from "./problems";
import { to } from "./route";
import { Status } from "./Status";
import { moment } from "./words";

const ORDER = graphql(/* GraphQL */ `
  query Order($orderId: ID!) {
    order(orderId: $orderId) {
      id
      orderId
      status
      placedAt
      total
      currency
      note
      version
      userId
      user {
        id
        name
        email
      }
      lines {
        id
        productId
        title
        quantity
        unitPrice
      }
    }
  }
`);

export type Order = NonNullable<OrderQuery["order"]>;

export function OrderPage({ orderId }: { orderId: string }) {
  const isNew = useJustPlaced(orderId);
  const [{ data, error, fetching }, again] = useQuery({ query: ORDER, variables: { orderId } });
  const { change, isLive } = useLiveOrder(orderId);
  const reload = () => again({ requestPolicy: "network-only" });
  if (!data && fetching) return <p className="waiting">Loading the order…</p>;
  if (error && !data) return <Failure error={error} retry={reload} />;
  if (!data?.order) {
    return (
      <Notice kind="warn" title={`There is no order ${orderId} in this shop.`}>
        <p>
          <a href={to(["orders"])}>Back to the orders</a>
        </p>
      </Notice>
    );
  }
  return (
    <>
      {isNew && <Notice kind="good" title="The order is placed." />}
      <Shown order={newest(data.order, change)} isLive={isLive} hidden={hiddenFields(error)} reload={reload} />
    </>
  );
}

/** Whether this page follows the order's placing; whoever comes back to it is not told again. */
function useJustPlaced(orderId: string): boolean {
  const [isNew] = useState(() => justPlaced.get() === orderId);
  useEffect(() => justPlaced.set(null), []);
  return isNew;
}

interface ShownProps {
  order: Order;
  isLive: boolean;
  hidden: Set<string>;
  reload: () => void;
}

function Shown({ order, isLive, hidden, reload }: ShownProps) {
  return (
    <>
      <p className="crumbs">
        <a href={to(["orders"])}>← Orders</a>
      </p>
      <div className="heading">
        <h1>
          Order <span className="id">{order.orderId}</span>
        </h1>
        <span aria-live="polite">
          <Status status={order.status} />
        </span>
        <span className="version" title="Number of changes to this order">
          version {order.version}
        </span>
        <Live isLive={isLive} />
      </div>
      <div className="columns">
        <section aria-label="What was ordered">
          <Lines order={order} />
        </section>
        <aside>
          <Steps order={order} reload={reload} />
          <Facts order={order} hidden={hidden} />
        </aside>
      </div>
    </>
  );
}

function Lines({ order }: { order: Order }) {
  return (
    <table className="lines">
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th scope="col" className="number">
            Each
          </th>
          <th scope="col" className="number">
            Quantity
          </th>
          <th scope="col" className="number">
            Sum
          </th>
        </tr>
      </thead>
      <tbody>
        {order.lines.map((line) => (
          <tr key={line.id}>
            <th scope="row">
              {line.title} <span className="dim">{line.productId}</span>
            </th>
            <td className="number">{money(line.unitPrice, order.currency)}</td>
            <td className="number">{line.quantity}</td>
            <td className="number">{money(times(line.unitPrice, line.quantity), order.currency)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={3}>
            Total
          </th>
          <td className="number">{money(order.total, order.currency)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

function Facts({ order, hidden }: { order: Order; hidden: Set<string> }) {
  return (
    <dl className="facts card">
      <Fact name="Customer" value={order.user?.name} isHidden={hidden.has("order.user.name")} />
      <Fact name="E-mail" value={order.user?.email} isHidden={hidden.has("order.user.email")} />
      <Fact name="Placed" value={moment(order.placedAt)} />
      <Fact name="Note" value={order.note} isHidden={hidden.has("order.note")} />
      <div>
        <dt>More</dt>
        <dd>
          <a href={to(["orders"], { customer: order.userId })}>All orders of {order.user?.name ?? order.userId}</a>
        </dd>
      </div>
    </dl>
  );
}

function Fact({ name, value, isHidden = false }: { name: string; value?: string | null; isHidden?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{isHidden ? <span className="hidden">hidden from your role</span> : (value ?? "none")}</dd>
    </div>
  );
}
