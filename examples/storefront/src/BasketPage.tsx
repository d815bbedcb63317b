// What is about to be ordered, with prices and stock as they are now.
import { useState } from "react";
import { useMutation, useQuery } from "urql";
import { basket, forgetSubmission, justPlaced, type Line, MAX_LINES, submissionKey } from "./basket";
import { BasketItem } from "./BasketItem";
import { type Customer, CustomerField } from "./CustomerField";
import { graphql } from "./gql";
import type { BasketQuery, UserErrorCode } from "./gql/graphql";
import { money, times } from "./money";
import { Failure, Notice } from "./Notice";
import { refusal } from "./problems";
import { go, to } from "./route";
import { useStored } from "./store";

const BASKET = graphql(/* GraphQL */ `
  query Basket($productIds: [ID!]!) {
    products(productIds: $productIds) {
      id
      productId
      title
      price
      currency
      stock {
        id
        available
      }
    }
  }
`);

const PLACE = graphql(/* GraphQL */ `
  mutation PlaceOrder($input: PlaceOrderInput!, $idempotencyKey: String!) {
    placeOrder(input: $input, idempotencyKey: $idempotencyKey) {
      order {
        id
        orderId
      }
      errors {
        code
        message
      }
    }
  }
`);

export type Product = NonNullable<NonNullable<BasketQuery["products"]>[number]>;

export function BasketPage({ forCustomers = false }: { forCustomers?: boolean }) {
  const lines = useStored(basket);
  const productIds = lines.map((line) => line.productId);
  const [{ data, error, fetching }, again] = useQuery({
    query: BASKET,
    variables: { productIds },
    pause: productIds.length === 0,
    requestPolicy: "cache-and-network",
  });
  if (lines.length === 0) {
    return (
      <>
        <h1>Basket</h1>
        <p className="empty">
          It is empty. <a href={to(["catalogue"])}>Look at the catalogue</a>
        </p>
      </>
    );
  }
  if (error && !data) return <Failure error={error} retry={() => again({ requestPolicy: "network-only" })} />;
  if (!data && fetching) return <p className="waiting">Loading prices…</p>;
  const products = new Map((data?.products ?? []).flatMap((each) => (each ? [[each.productId, each]] : [])));
  return <Filled lines={lines} products={products} forCustomers={forCustomers} />;
}

interface FilledProps {
  lines: Line[];
  products: Map<string, Product>;
  /** A customer orders for itself, and names nobody. */
  forCustomers: boolean;
}

function Filled({ lines, products, forCustomers }: FilledProps) {
  const [customer, setCustomer] = useState<Customer | null>(null);
  const [note, setNote] = useState("");
  const [refused, setRefused] = useState<{ code: UserErrorCode; message: string } | null>(null);
  const [{ fetching, error }, place] = useMutation(PLACE);
  const currency = products.values().next().value?.currency ?? "EUR";
  const total = lines.reduce((sum, line) => sum + times(products.get(line.productId)?.price ?? "0", line.quantity), 0n);

  const known = forCustomers || customer !== null;

  async function submit(event: React.FormEvent): Promise<void> {
    event.preventDefault();
    if (!forCustomers && !customer) return;
    const input = { userId: customer?.userId, lines, note: note.trim() || null };
    // a second click, or a repeat after a lost answer, is the same submission: it is ordered once
    const idempotencyKey = submissionKey(input);
    // every query with stock asks again: after success it is less, and after OUT_OF_STOCK it was less than shown
    const { data } = await place({ input, idempotencyKey }, { additionalTypenames: ["Order", "Stock"] });
    setRefused(data?.placeOrder?.errors[0] ?? null);
    const order = data?.placeOrder?.order;
    if (!order) return;
    forgetSubmission();
    basket.set([]);
    justPlaced.set(order.orderId);
    go(to(forCustomers ? ["orders"] : ["orders", order.orderId]));
  }

  return (
    <>
      <h1>Basket</h1>
      {error && <Failure error={error} changing />}
      {refused && (
        <Notice kind="warn" title={refusal(refused.code)}>
          {refused.code === "OUT_OF_STOCK" ? (
            <p>The stock below is up to date.</p>
          ) : (
            <p className="dim">{refused.message}</p>
          )}
        </Notice>
      )}
      <form className="columns" onSubmit={submit}>
        <ul className="basket card" aria-label="Products in the basket">
          {lines.map((line) => (
            <BasketItem key={line.productId} line={line} product={products.get(line.productId)} />
          ))}
        </ul>
        <aside className="card checkout">
          {!forCustomers && <CustomerField customer={customer} choose={setCustomer} />}
          <label>
            Note
            <textarea value={note} onChange={(event) => setNote(event.target.value)} rows={2} maxLength={1_000} />
          </label>
          <p className="total">
            Total <strong>{money(total, currency)}</strong>
          </p>
          <button type="submit" className="primary" disabled={fetching || !known || lines.length > MAX_LINES}>
            {fetching ? "Placing…" : "Place the order"}
          </button>
          {!known && <p className="dim">Choose a customer first.</p>}
        </aside>
      </form>
    </>
  );
}
