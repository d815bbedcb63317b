// Makes generated/ again: Relay's artefacts, codegen's types, both manifests of persisted documents, compiled TypeScript.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

process.chdir(import.meta.dirname ?? new URL(".", import.meta.url).pathname);
rmSync("generated", { recursive: true, force: true });
mkdirSync("generated/relay", { recursive: true });
// relay-compiler and TypeScript write modules of Node's older kind here
writeFileSync("generated/package.json", '{"type": "commonjs"}\n');
writeFileSync("generated/relay.json", "{}\n");

run("relay-compiler");
run("graphql-codegen", "--config", "codegen.config.mjs");
run("tsc", "--project", "tsconfig.json");

const manifest = { ...json("generated/relay.json"), ...json("generated/typed/graphql/persisted-documents.json") };
writeFileSync("generated/manifest.json", JSON.stringify(manifest, null, 2));

function run(tool, ...given) {
  const { status, stdout, stderr, error } = spawnSync(`node_modules/.bin/${tool}`, given, { encoding: "utf8" });
  if (status !== 0) {
    console.error(`${tool} failed\n${stdout ?? ""}${stderr ?? ""}${error ?? ""}`);
    process.exit(1);
  }
  console.log(`${tool}: accepts the schema`);
}

function json(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
