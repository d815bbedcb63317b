// The subgraph that `gateway schema --federation` prints composes with one that adds a field to our products.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { composeServices } from "@theguild/federation-composition";
import { parse } from "graphql";

const ours = readFileSync(process.env.SUBGRAPH, "utf8");
const theirs = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  type Query { latestReview: Review }
  type Review { text: String! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type Product @key(fields: "id") { id: ID! reviews: [Review!]! pages: PageInfo! }
`;

const services = { gateway: ours, reviews: theirs };
const composed = composeServices(
  Object.entries(services).map(([name, text]) => ({ name, url: `http://${name}.example`, typeDefs: parse(text) })),
);
assert.deepEqual((composed.errors ?? []).map((error) => error.message), []);
assert.match(composed.supergraphSdl, /type Product/);
console.log("federation: the subgraph composes with another one");
