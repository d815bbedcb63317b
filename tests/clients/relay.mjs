// Relay's runtime on what relay-compiler made: the scenario with texts, then with nothing but ids of trusted documents.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import relay from "relay-runtime";
import nextPage from "./generated/relay/operationsNextPageQuery.graphql.js";
import node from "./generated/relay/operationsNodeQuery.graphql.js";
import page from "./generated/relay/operationsPage.graphql.js";
import product from "./generated/relay/operationsProductQuery.graphql.js";
import products from "./generated/relay/operationsProductsQuery.graphql.js";
import rename from "./generated/relay/operationsRenameMutation.graphql.js";
import { play } from "./scenario.mjs";
import { GATEWAY, TRUSTED_GATEWAY } from "./sandbox.mjs";

const { commitMutation, createOperationDescriptor, Environment, fetchQuery, getSingularSelector, Network, RecordSource, Store } = relay;
const texts = JSON.parse(readFileSync(new URL("generated/relay.json", import.meta.url)));

class Client {
  constructor(url, body) {
    this.url = url;
    this.body = body;
    this.environment = this.fresh();
  }

  fresh() {
    const network = Network.create((params, variables) => this.send(params, variables));
    return new Environment({ network, store: new Store(new RecordSource()) });
  }

  async send(params, variables) {
    const answer = await fetch(this.url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.token}`,
        "content-type": "application/json",
        accept: "application/graphql-response+json, application/json;q=0.9",
      },
      body: JSON.stringify({ ...this.body(params), variables }),
    });
    this.payload = await answer.json();
    return this.payload;
  }

  ask = async (operation, variables, token) => {
    this.token = token;
    this.payload = undefined;
    try {
      await this.run(operation, variables);
    } catch (error) {
      if (!this.payload?.errors) throw error; // Relay throws for an answer without data
    }
    const codes = (this.payload.errors ?? []).map((each) => each.extensions.code);
    if (operation === "Products" && !codes.length) this.checkConnection();
    return { data: this.payload.data, codes };
  };

  async run(operation, variables) {
    if (operation === "Rename") {
      const done = Promise.withResolvers?.() ?? resolvers();
      commitMutation(this.environment, { mutation: rename, variables, onCompleted: done.resolve, onError: done.reject });
      return done.promise;
    }
    if (operation === "Products" && !variables.after) this.environment = this.fresh();
    const query = { Product: product, Anything: node, Products: variables.after ? nextPage : products }[operation];
    return fetchQuery(this.environment, query, variables).toPromise();
  }

  // every page that was loaded is appended to the one connection in the store
  checkConnection() {
    const { edges, pageInfo } = this.payload.data.productsByCategory;
    const owner = createOperationDescriptor(products, { first: null });
    const root = this.environment.lookup(owner.fragment).data;
    const found = this.environment.lookup(getSingularSelector(page, root)).data.productsByCategory;
    assert.deepEqual(
      found.edges.slice(-edges.length).map((edge) => edge.node.productId),
      edges.map((edge) => edge.node.productId),
    );
    assert.equal(found.pageInfo.hasNextPage, pageInfo.hasNextPage);
  }
}

function resolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

await play("Relay", new Client(GATEWAY, (params) => ({ query: texts[params.id] })).ask);
if (TRUSTED_GATEWAY) await play("Relay with trusted documents", new Client(TRUSTED_GATEWAY, ({ id }) => ({ id })).ask);
