// The scenario that every client runs: query, page, mutate, error, expired token.
//
// A client is `ask(operation, variables, token)`, which answers `{ data, codes }`: the data of the operation and the
// codes of its errors, however the client tells them apart.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { tokenOf } from "./sandbox.mjs";

const PRODUCT = "p-1001";

/** The text of each operation in operations.graphql. */
export const OPERATIONS = Object.fromEntries(
  readFileSync(new URL("operations.graphql", import.meta.url), "utf8")
    .split(/^(?=query|mutation)/m)
    .filter((text) => /^(query|mutation)/.test(text))
    .map((text) => [text.match(/^\w+ (\w+)/)[1], text]),
);

export async function play(name, ask) {
  const [viewer, editor, stranger, expired] = await Promise.all([
    tokenOf("acme", "viewer"),
    tokenOf("acme", "editor"),
    tokenOf("globex", "viewer"),
    tokenOf("acme", "viewer", -120),
  ]);
  const good = async (operation, variables, token = viewer) => {
    const { data, codes } = await ask(operation, variables, token);
    assert.deepEqual(codes, [], `${operation} has errors`);
    return data;
  };

  // query
  const { product } = await good("Product", { productId: PRODUCT });
  assert.equal(product.productId, PRODUCT);
  const node = (id, token) => good("Anything", { id }, token).then((data) => data.node);
  assert.deepEqual(await node(product.id), { __typename: "Product", id: product.id, title: product.title });
  assert.equal(await node(product.id, stranger), null, "a global id of another tenant");

  // page
  const whole = await ids(good, 100);
  const pages = await ids(good, 3);
  assert.ok(whole.length > 3, "there is more than one page");
  assert.deepEqual(pages, whole);

  // mutate: with the version that was read, then with the same one again
  const title = `Renamed by ${name} ${randomUUID()}`;
  const input = { productId: PRODUCT, title, version: product.version };
  const key = randomUUID();
  const { updateProduct: renamed } = await good("Rename", { input, key }, editor);
  assert.deepEqual(renamed.errors, []);
  assert.equal(renamed.product.title, title);
  const { updateProduct: repeated } = await good("Rename", { input, key }, editor);
  assert.equal(repeated.product.version, renamed.product.version, "a repeat with the same key changes nothing");
  const { updateProduct: stale } = await good("Rename", { input: { ...input, title: "late" }, key: null }, editor);
  assert.deepEqual(
    stale.errors.map(({ code, currentVersion }) => ({ code, currentVersion })),
    [{ code: "CONFLICT", currentVersion: renamed.product.version }],
  );

  // error
  const refused = await ask("Rename", { input: { productId: PRODUCT, title }, key: null }, viewer);
  assert.deepEqual(refused.codes, ["FORBIDDEN"]);
  const wrong = await ask("Products", { first: -1, after: null }, viewer);
  assert.deepEqual(wrong.codes, ["BAD_USER_INPUT"]);

  // expired token, and on with a fresh one
  const late = await ask("Product", { productId: PRODUCT }, expired);
  assert.deepEqual(late.codes, ["UNAUTHENTICATED"]);
  assert.equal((await good("Product", { productId: PRODUCT })).product.title, title);
  console.log(`${name}: query, page, mutate, error and expired token as expected`);
}

async function ids(good, first) {
  const found = [];
  for (let after = null; ; ) {
    const { productsByCategory: page } = await good("Products", { first, after });
    found.push(...page.edges.map((edge) => edge.node.productId));
    if (!page.pageInfo.hasNextPage) return found;
    after = page.pageInfo.endCursor;
  }
}
