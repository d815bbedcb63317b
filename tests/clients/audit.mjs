// The GraphQL-over-HTTP audit of graphql-http: every one of its audits must be ok, for either media type.
import { serverAudits } from "graphql-http";
import { GATEWAY, tokenOf } from "./sandbox.mjs";

const EXPECTED = 61;
const TYPES = ["application/json", "application/graphql-response+json"];

const token = await tokenOf("acme", "viewer");
let accepted = new Set();

function asked(url, init) {
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${token}`);
  accepted.add(headers.get("accept") ?? "nothing");
  return fetch(url, { ...init, headers });
}

const audits = serverAudits({ url: GATEWAY, fetchFn: asked });
const counts = new Map(TYPES.map((type) => [type, { ok: 0, of: 0 }]));
let ok = 0;
for (const audit of audits) {
  accepted = new Set();
  const result = await audit.fn();
  const good = result.status === "ok";
  ok += good ? 1 : 0;
  for (const type of accepted) {
    if (!counts.has(type)) counts.set(type, { ok: 0, of: 0 });
    counts.get(type).of += 1;
    counts.get(type).ok += good ? 1 : 0;
  }
  if (!good) console.error(`  ${audit.id} ${audit.name}: ${result.status}: ${result.reason}`);
}
console.log(`audit: ${ok} of ${audits.length} ok`);
for (const [type, count] of counts) console.log(`audit: accepting ${type}: ${count.ok} of ${count.of} ok`);
process.exitCode = ok === audits.length && audits.length === EXPECTED && TYPES.every((type) => counts.get(type).of) ? 0 : 1;
