// Moving an order on. The version that was read goes along: who has seen an old one changes nothing.
import { useState } from "react";
import { type CombinedError, useMutation } from "urql";
import { graphql } from "./gql";
import type { OrderStatus, UserErrorCode } from "./gql/graphql";
import { Failure, Notice } from "./Notice";
import type { Order } from "./OrderPage";
import { refusal } from "./problems";
import { STATUS } from "./words";

const CHANGE = graphql(/* GraphQL */ `
  mutation ChangeOrderStatus($input: ChangeOrderStatusInput!) {
    change: changeOrderStatus(input: $input) {
      order {
        id
        status
        version
      }
      errors {
        code
        message
        currentVersion
      }
    }
  }
`);

export const CANCEL = graphql(/* GraphQL */ `
  mutation CancelOrder($input: CancelOrderInput!) {
    change: cancelOrder(input: $input) {
      order {
        id
        status
        version
      }
      errors {
        code
        message
        currentVersion
      }
    }
  }
`);

// what people see; the gateway decides
const NEXT: Record<OrderStatus, [status: OrderStatus, title: string][]> = {
  PENDING: [
    ["CONFIRMED", "Confirm"],
    ["REVIEW", "Hold for review"],
  ],
  REVIEW: [["CONFIRMED", "Approve"]],
  CONFIRMED: [
    ["SHIPPED", "Mark as shipped"],
    ["REVIEW", "Hold for review"],
  ],
  SHIPPED: [["DELIVERED", "Mark as delivered"]],
  DELIVERED: [],
  CANCELLED: [],
};
export const CANCELLABLE: OrderStatus[] = ["PENDING", "REVIEW", "CONFIRMED"];

interface Refused {
  code: UserErrorCode;
  message: string;
  currentVersion?: number | null;
}

type Outcome = { done: OrderStatus; version: number } | { refused: Refused } | { error: CombinedError } | null;

export function Steps({ order, reload }: { order: Order; reload: () => void }) {
  const [outcome, setOutcome] = useState<Outcome>(null);
  const [asked, setAsked] = useState(false);
  const [changing, change] = useMutation(CHANGE);
  const [cancelling, cancel] = useMutation(CANCEL);
  const busy = changing.fetching || cancelling.fetching;
  const seen = { orderId: order.orderId, version: order.version };
  // a cancelled order gives its stock back, so what is known about stock is old
  const context = { additionalTypenames: ["Order", "Stock"] };

  async function run(made: ReturnType<typeof change> | ReturnType<typeof cancel>): Promise<void> {
    setAsked(false);
    const { data, error } = await made;
    const refused = data?.change?.errors[0];
    const changed = data?.change?.order;
    setOutcome(error ? { error } : refused ? { refused } : changed ? { done: changed.status, version: changed.version } : null);
  }

  return (
    <section className="steps card" aria-label="What is next" aria-busy={busy}>
      <h2>What is next</h2>
      <Said outcome={outcome} order={order} reload={() => (setOutcome(null), reload())} />
      <div className="buttons">
        {NEXT[order.status].map(([status, title], index) => (
          <button
            key={status}
            type="button"
            className={index ? "quiet" : undefined}
            disabled={busy}
            onClick={() => run(change({ input: { ...seen, status } }, context))}
          >
            {title}
          </button>
        ))}
        {CANCELLABLE.includes(order.status) && !asked && (
          <button type="button" className="quiet off" disabled={busy} onClick={() => setAsked(true)}>
            Cancel the order
          </button>
        )}
      </div>
      {asked && (
        <div className="sure" role="group" aria-label="Cancel the order?">
          <p>The order is cancelled, and its products go back into stock.</p>
          <button type="button" className="danger" autoFocus onClick={() => run(cancel({ input: seen }, context))}>
            Yes, cancel it
          </button>
          <button type="button" className="quiet" onClick={() => setAsked(false)}>
            Keep it
          </button>
        </div>
      )}
      {NEXT[order.status].length === 0 && <p className="dim">Nothing: the order is {STATUS[order.status].toLowerCase()}.</p>}
    </section>
  );
}

function Said({ outcome, order, reload }: { outcome: Outcome; order: Order; reload: () => void }) {
  if (!outcome) return null;
  if ("error" in outcome) return <Failure error={outcome.error} changing />;
  // somebody has moved it on since
  if ("done" in outcome && outcome.version < order.version) return null;
  if ("done" in outcome) return <Notice kind="good" title={`The order is ${STATUS[outcome.done].toLowerCase()} now.`} />;
  const { code, message, currentVersion } = outcome.refused;
  if (code !== "CONFLICT") {
    return (
      <Notice kind="warn" title={refusal(code)}>
        <p className="dim">{message}</p>
      </Notice>
    );
  }
  if (currentVersion && order.version >= currentVersion) {
    return (
      <Notice kind="warn" title="Somebody changed it meanwhile.">
        <p>Your change was not saved. This is the newest version.</p>
      </Notice>
    );
  }
  return (
    <Notice kind="warn" title="Somebody changed it meanwhile.">
      <p>
        You are looking at version {order.version}
        {currentVersion ? `, and it is version ${currentVersion} now` : ""}. Nothing of yours was saved.
      </p>
      <p>
        <button type="button" onClick={reload}>
          Reload the order
        </button>
      </p>
    </Notice>
  );
}
