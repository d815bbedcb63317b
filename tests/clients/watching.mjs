// The scenario of subscriptions that every client runs: first value, event, cut connection, expired token, error.
//
// A client is `open(url, token, variables, sink)`. It watches the list in `WATCHED`, calls `token` for each connection,
// tells `sink.next(result)`, `sink.error(code)` with a GraphQL code or the code of a closed socket, and answers a function
// that ends it.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { proxied } from "./proxy.mjs";
import { GATEWAY, tokenOf } from "./sandbox.mjs";

export const WATCHED = `subscription Watched($userId: ID!, $first: Int) {
  ordersOfUserChanged(userId: $userId, first: $first) {
    page { nodes { id orderId status } }
    changes { kind nodeId node { id orderId status } }
  }
}`;
const LEEWAY_SECONDS = 30; // for which the gateway accepts a token after its expiry
const PATIENCE = 20_000;

export async function watch(name, open, { reconnectsWhenExpired = true } = {}) {
  const userId = `u-${name.replaceAll(/\W+/g, "-").toLowerCase()}`;
  const editor = await tokenOf("acme", "editor");
  await created(editor, userId);
  const fresh = () => tokenOf("acme", "viewer");
  const proxy = await proxied();
  try {
    // first value, and an event
    const events = watching(open, proxy.url, fresh, { userId, first: 10 });
    assert.deepEqual(await events.next(), { page: { nodes: [] }, changes: [] });
    const order = await placed(editor, userId);
    assert.deepEqual(await events.next(), orderEvent("ADDED", order));

    // resume after a cut: what changed meanwhile is sent once, as it is now, and nothing else
    proxy.cut();
    await moved(editor, order, "CONFIRMED");
    await moved(editor, order, "SHIPPED");
    proxy.restore();
    assert.deepEqual(await events.next(), orderEvent("CHANGED", { ...order, status: "SHIPPED" }));
    await moved(editor, order, "DELIVERED");
    assert.deepEqual(await events.next(), orderEvent("CHANGED", { ...order, status: "DELIVERED" }));
    events.stop();

    await expiry(open, proxy.url, editor, userId, reconnectsWhenExpired);

    // errors: of an argument, and of a token that was never good
    const wrong = watching(open, proxy.url, fresh, { userId, first: -1 });
    assert.equal(await wrong.failed(), "BAD_USER_INPUT");
    const late = watching(open, proxy.url, () => tokenOf("acme", "viewer", -120), { userId, first: 10 });
    assert.ok(["UNAUTHENTICATED", 4403].includes(await late.failed()));
    console.log(`${name}: first value, event, resume, expired token and errors as expected`);
  } finally {
    proxy.close();
  }
}

// the token ends while it is used: the client connects again with another and misses nothing
async function expiry(open, url, editor, userId, reconnects) {
  let connections = 0;
  const token = () => tokenOf("acme", "viewer", connections++ ? undefined : 3 - LEEWAY_SECONDS);
  const events = watching(open, url, token, { userId, first: 10 });
  const { page } = await events.next();
  assert.equal(page.nodes.length, 1);
  if (!reconnects) {
    assert.equal(await events.failed(), "UNAUTHENTICATED");
    return;
  }
  const end = Date.now() + PATIENCE;
  while (connections < 2 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(connections > 1, "it connected again with another token");
  const order = await placed(editor, userId);
  // a change from just before the first value may be sent once more, as the page has it
  const repeated = (event) => page.nodes.some((node) => isDeepStrictEqual(event, orderEvent("CHANGED", node)));
  let event = await events.next();
  while (repeated(event)) event = await events.next();
  assert.deepEqual(event, orderEvent("ADDED", order), "it went on and did not begin again");
  events.stop();
}

const orderEvent = (kind, { id, orderId, status }) => ({ page: null, changes: [{ kind, nodeId: id, node: { id, orderId, status } }] });

function watching(open, url, token, variables) {
  const results = [];
  const waiting = [];
  let fail;
  const failed = new Promise((resolve) => (fail = resolve));
  const stop = open(url, token, variables, {
    next(result) {
      if (result.errors) return fail(result.errors[0].extensions.code);
      const data = withoutTypes(result.data.ordersOfUserChanged);
      waiting.length ? waiting.shift()(data) : results.push(data);
    },
    error: fail,
    complete() {},
  });
  const next = () => (results.length ? results.shift() : new Promise((resolve) => waiting.push(resolve)));
  return {
    next: () => Promise.race([next(), tooLate(), failed.then((code) => assert.fail(`it failed with ${code}`))]),
    failed: () => Promise.race([failed, tooLate()]),
    stop,
  };
}

// Apollo's and Relay's caches ask for type names everywhere
const withoutTypes = (data) => JSON.parse(JSON.stringify(data, (key, value) => (key === "__typename" ? undefined : value)));

function tooLate() {
  return new Promise((_, reject) => setTimeout(() => reject(new Error("nothing came in time")), PATIENCE).unref());
}

async function created(token, userId) {
  const text = `mutation ($input: CreateUserInput!) { createUser(input: $input) { errors { code message } } }`;
  await asked(token, text, { input: { userId, name: "A watcher", email: `${userId}@example.org` } });
}

async function placed(token, userId) {
  const text = `mutation ($input: PlaceOrderInput!) {
    placeOrder(input: $input) { order { id orderId status } errors { code message } } }`;
  const input = { userId, lines: [{ productId: "p-1003", quantity: 1 }] };
  return (await asked(token, text, { input })).placeOrder.order;
}

async function moved(token, { orderId }, status) {
  const text = `mutation ($input: ChangeOrderStatusInput!) {
    changeOrderStatus(input: $input) { order { status } errors { code message } } }`;
  await asked(token, text, { input: { orderId, status } });
}

async function asked(token, query, variables) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(GATEWAY, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await answer.json();
  assert.ok(data && !errors && !Object.values(data)[0].errors.length, JSON.stringify({ data, errors }));
  return data;
}
