// graphql-codegen's client preset, compiled by TypeScript: the scenario with texts, then with ids of trusted documents.
import typed from "./generated/built/typed/ask.js";
import { play } from "./scenario.mjs";
import { GATEWAY, TRUSTED_GATEWAY } from "./sandbox.mjs";

const asking = (url, byId) => async (operation, variables, token) => {
  const { data, errors } = await typed.ask(url, token, typed[operation], variables, byId);
  return { data, codes: (errors ?? []).map((each) => each.extensions.code) };
};

await play("codegen", asking(GATEWAY, false));
if (TRUSTED_GATEWAY) await play("codegen with trusted documents", asking(TRUSTED_GATEWAY, true));
